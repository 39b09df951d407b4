"""Twin: a spec that an aspect makes from another spec, and the dtype that stands for the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.spec import Spec

#: The aspect of a spec that has values of an elementwise op: it has twins in other positions and sizes.
ELEMENTWISE = "elementwise"
#: The dtypes that stand for others, in this order.
_FIRST = ("float32", "int32", "complex64", "bool")


def representative(dtypes: Collection[str]) -> str:
    """The dtype that stands for the others in the default tier: float32, if it is one of them."""
    return next((dtype for dtype in _FIRST if dtype in dtypes), next(iter(dtypes)))


def stood_for(spec: Spec) -> tuple[str, ...]:
    """The dtypes of a spec for which another one of the same kind stands: floats, integers, and complex numbers.

    Those that an item sweeps stand for themselves.
    """
    kinds: dict[str, list[str]] = {}
    for dtype in spec.dtypes:
        kinds.setdefault(dtype.lstrip("bu").rstrip("0123456789"), []).append(dtype)
    first = {representative(kind) for kind in kinds.values()}
    return tuple(dtype for dtype in spec.dtypes if dtype not in first and not Item("", spec, dtype).sweeps)


def twin(spec: Spec, aspect: str, end: str = "", **fields: Any) -> Spec:
    """The twin `NAME-ASPECT` of a spec, whose name may have a further end; `fields` are those in which it differs."""
    return replace(
        spec, name=f"{spec.name}-{aspect}{end}", **{"aspect": aspect, "tier": "default", "every_input": False, **fields}
    )


def in_tiers(spec: Spec, first: str, **others: Any) -> tuple[Spec, ...]:
    """A spec in one dtype, and `NAME-other` in its other dtypes in the full tier; none without a dtype.

    Every program has to be built, so one dtype stands for the others in the tier of the spec.
    """
    rest = tuple(dtype for dtype in spec.dtypes if dtype != first)
    other = {"name": f"{spec.name}-other", "dtypes": rest, "tier": "full", **others}
    return (
        *((replace(spec, dtypes=(first,)),) if first in spec.dtypes else ()),
        *((replace(spec, **other),) if rest else ()),
    )


def by_tier(dtypes: Sequence[str] | Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The specs for some dtypes: the end of their names, and the fields of their dtypes."""
    if isinstance(dtypes, str):
        raise TypeError(f"dtypes: expected a tuple, or dtype → tier, got {dtypes!r}")
    if not isinstance(dtypes, Mapping):
        yield "", {"dtypes": tuple(dtypes)}
        return
    if unknown := set(dtypes.values()) - set(TIERS):
        raise ValueError(f"dtypes: expected tiers of {', '.join(TIERS)}, got {sorted(unknown)}")
    for number, tier in enumerate(sorted(set(dtypes.values()), key=TIERS.index)):
        yield "-other" if number else "", {"dtypes": tuple(d for d, t in dtypes.items() if t == tier), "tier": tier}
