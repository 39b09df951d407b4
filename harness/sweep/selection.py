"""Selection: what a sweep is asked to be about."""

from __future__ import annotations

from collections.abc import Sequence

from tf_opdiff.harness.spec.catalog import Catalog, Item, unknown
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.sweep.oracle import refusal
from tf_opdiff.harness.sweep.pieces import DTYPES, patterns


def chosen(catalog: Catalog, ops: Sequence[str], dtypes: Sequence[str]) -> list[Item]:
    """The items that can be swept: of the specs of those names, or else all that the names stand for; of all, for none.

    Raises:
      LookupError: the name is unknown.
      ValueError: none of them can be swept; the message says why.
    """
    names = {name for op in ops for name in ([op] if op in catalog.specs else catalog.named(op))}
    names = names if ops else {name for name, spec in catalog.specs.items() if spec.sweepable}
    items = [i for i in catalog.items if i.spec.name in names and (not dtypes or i.dtype in dtypes)]
    reasons = {item.id: refusal(item.spec, item.dtype) for item in items if item.dtype in DTYPES}
    found = [item for item in items if reasons.get(item.id) == ""]
    if not found:
        none = f"{', '.join(ops) or 'no spec'} has none of {', '.join(dtypes or DTYPES)}"
        raise ValueError("; ".join(sorted(set(reasons.values()))) or none)
    return found


def labels(spec: Spec, selected: Sequence[str]) -> list[str]:
    """The labels of a spec's `attrs` that are selected, or all of them.

    Raises:
      LookupError: the spec has no such label.
    """
    for label in selected:
        if label not in spec.labels:
            raise LookupError(unknown(f"attrs of {spec.name}", label, set(spec.attrs)))
    return list(dict.fromkeys(selected)) or list(spec.labels)


def span(text: str | None, dtype: str) -> tuple[int, int]:
    """The range of bit patterns.

    Raises:
      ValueError: it is none, or empty, or beyond the dtype.
    """
    if text is None:
        return 0, patterns(dtype)
    lo, _, hi = text.partition(":")
    try:
        found = int(lo, 0), int(hi, 0)
    except ValueError:
        raise ValueError(f"range {text!r}: expected LO:HI, such as 0x3f800000:0x40000000") from None
    if not 0 <= found[0] < found[1] <= patterns(dtype):
        raise ValueError(f"range {text!r}: expected 0 <= LO < HI <= {patterns(dtype):#x} for {dtype}")
    return found
