"""Selection: the items, labels and range of bit patterns that the options of a sweep select."""

from __future__ import annotations

from collections.abc import Sequence

from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.sweep.measurements.pieces import DTYPES, patterns
from tf_opdiff.harness.sweep.sweepable import refusal


def chosen(catalog: Catalog, ops: Sequence[str], dtypes: Sequence[str]) -> list[Item]:
    """The selected items that can be swept.

    A name in `ops` selects the spec with this name, else all specs of this family or OpDef. Empty `ops` or `dtypes`
    select all.

    Raises:
      LookupError: a name is unknown.
      ValueError: none of the selected items can be swept; the message gives the reasons.
    """
    names = {name for op in ops for name in ([op] if op in catalog.specs else catalog.named(op))}
    names = names if ops else {name for name, spec in catalog.specs.items() if spec.sweepable}
    items = [i for i in catalog.items if i.spec.name in names and (not dtypes or i.dtype in dtypes)]
    reasons = {item.id: refusal(item.spec, item.dtype) for item in items if item.dtype in DTYPES}
    sweepable = [item for item in items if reasons.get(item.id) == ""]
    if not sweepable:
        none = f"{', '.join(ops) or 'no spec'} has none of {', '.join(dtypes or DTYPES)}"
        raise ValueError("; ".join(sorted(set(reasons.values()))) or none)
    return sweepable


def labels(spec: Spec, selected: Sequence[str]) -> list[str]:
    """The selected labels of a spec's `attrs`; all labels if none are selected.

    Raises:
      LookupError: the spec has no such label.
    """
    for label in selected:
        if label not in spec.labels:
            raise LookupError(unknown(f"attrs of {spec.name}", label, set(spec.attrs)))
    return list(dict.fromkeys(selected)) or list(spec.labels)


def span(text: str | None, dtype: str) -> tuple[int, int]:
    """The range `LO:HI` of bit patterns of a dtype; all bit patterns for None.

    Raises:
      ValueError: the text has another form, or the range is empty or exceeds the dtype's bit patterns.
    """
    if text is None:
        return 0, patterns(dtype)
    lo, _, hi = text.partition(":")
    try:
        first, end = int(lo, 0), int(hi, 0)
    except ValueError:
        raise ValueError(f"range {text!r}: expected LO:HI, such as 0x3f800000:0x40000000") from None
    if not 0 <= first < end <= patterns(dtype):
        raise ValueError(f"range {text!r}: expected 0 <= LO < HI <= {patterns(dtype):#x} for {dtype}")
    return first, end
