"""Op: the specs of an op, from its declaration: those of its aspects, and those of parts of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields as fields_of
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import PAIRS, Shapes, alike, elementwise_sizes
from tf_opdiff.suites.forms.aspects import ASPECTS
from tf_opdiff.suites.forms.layout import LAYING, Layout
from tf_opdiff.suites.forms.moves import MOVING, Moves
from tf_opdiff.suites.forms.part import Op, Part
from tf_opdiff.suites.reference.moves import Moved
from tf_opdiff.suites.reference.placed import Placed
from tf_opdiff.suites.reference.promise import Promise

#: The records of declarations, and the aspects, of kinds of promises.
_KINDS: Mapping[type[Promise], tuple[type[Op], tuple[Any, ...]]] = {Moved: (Moves, MOVING), Placed: (Layout, LAYING)}


def op(name: str, raw: str, *parts: Part, fields: Any = None, **declared: Any) -> tuple[Spec, ...]:
    """The specs of an op. If it is elementwise, its inputs also have zero elements and one: see `with_sizes`.

    An op whose promise is a `Moved` has the fields of `Moves`, and its aspects; `Placed`: those of `Layout`.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs, which no aspect has.
      fields: further fields of all specs.
      declared: the other fields of `Op`, and further fields of all specs.
    """
    kind = next((kind for kind in _KINDS if isinstance(declared.get("promise"), kind)), Promise)
    record, aspects = _KINDS.get(kind, (Op, ASPECTS))
    names = {each.name for each in fields_of(record)}
    own = {key: value for key, value in declared.items() if key in names}
    more = {key: value for key, value in declared.items() if key not in names}
    subject: Any = record(name=name, raw=raw, fields={**(fields or {}), **more}, **own)
    first, *others = aspects  # a smoke run takes the first spec of an op: its values
    specs = tuple(spec for each in (first, *parts, *others) for spec in each(subject))
    return (*specs, *elementwise_sizes(specs, _shapes(len(subject.arguments))))


def with_sizes(*parts: Part, shapes: Shapes | None = None, sources: Mapping[str, str] | None = None) -> Part:
    """The parts, with tensors of zero elements and of one; an op has this for its elementwise parts by itself.

    Args:
      parts: the parts.
      shapes: the shapes, if they are not the usual ones, such as those of an op that broadcasts nothing.
      sources: the end of a spec's name → its recipe that the values come from, for specs without twins in other
        positions.
    """

    def specs(op: Op) -> Iterable[Spec]:
        own = [spec for part in parts for spec in part(op)]
        named = {op.name + suffix: recipe for suffix, recipe in (sources or {}).items()}
        return [*own, *elementwise_sizes(own, shapes or _shapes(len(op.arguments)), named)]

    return specs


def _shapes(inputs: int) -> Shapes:
    """The shapes of an op of one input, of two that are broadcast together, or of more that have one shape."""
    return PAIRS if inputs == 2 else alike(inputs)
