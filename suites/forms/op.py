"""Op: the specs of an op, from its declaration: those of its aspects, and those of parts of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import PAIRS, Shapes, alike, elementwise_sizes
from tf_opdiff.suites.forms.aspects import ASPECTS
from tf_opdiff.suites.forms.part import Op, Part

_FIELDS = {each.name for each in fields(Op)}


def op(name: str, raw: str, *parts: Part, fields: Mapping[str, Any] | None = None, **declared: Any) -> tuple[Spec, ...]:
    """The specs of an op. If it is elementwise, its inputs also have zero elements and one: see `with_sizes`.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs, which no aspect has.
      fields: further fields of all specs.
      declared: the other fields of `Op`, and further fields of all specs.
    """
    own = {key: value for key, value in declared.items() if key in _FIELDS}
    more = {key: value for key, value in declared.items() if key not in _FIELDS}
    subject = Op(name=name, raw=raw, fields={**(fields or {}), **more}, **own)
    specs = _specs(subject, parts)
    return (*specs, *elementwise_sizes(specs, _shapes(len(subject.arguments))))


def _specs(subject: Op, parts: Iterable[Part]) -> tuple[Spec, ...]:
    first, *others = ASPECTS  # a smoke run takes the first spec of an op: its values
    return tuple(spec for each in (first, *parts, *others) for spec in each(subject))


#: The aspects of an op that `also` leaves out.
_OF_THE_OP: Mapping[str, Any] = {"forward": {}, "batch": {}, "small": {}, "wrong": {}, "second": (), "integers": ()}


def also(suffix: str, *parts: Part, **declared: Any) -> Part:
    """A part: values of the op with other calls, recipes, dtypes or modes.

    Args:
      suffix: the end of the names of its specs.
      parts: as of `op`.
      declared: the fields of `Op`, and fields of the specs, in place of those of the op. It has the aspects of
        `_OF_THE_OP` only if it declares them.
    """
    own = {key: value for key, value in declared.items() if key in _FIELDS}
    more = {key: value for key, value in declared.items() if key not in _FIELDS}

    def specs(op: Op) -> Iterable[Spec]:
        fields = {**op.fields, **more}
        return _specs(replace(op, **{"name": op.name + suffix, "fields": fields, **_OF_THE_OP, **own}), parts)

    return specs


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
