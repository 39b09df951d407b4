"""Op: the specs of an op, from its declaration: those of its aspects, and those of parts of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.gradient_alone import gradients_of_refused
from tf_opdiff.suites.derived.op_types import inputs_of, taken_by_cpu
from tf_opdiff.suites.derived.sizes import PAIRS, Shapes, alike, elementwise_sizes
from tf_opdiff.suites.derived.twin import ELEMENTWISE, stood_for
from tf_opdiff.suites.forms.array_ops.any_dtype import in_any_dtype
from tf_opdiff.suites.forms.array_ops.layout import LAYING, Layout
from tf_opdiff.suites.forms.array_ops.moves import MOVING, Moves
from tf_opdiff.suites.forms.aspects import ASPECTS
from tf_opdiff.suites.forms.limits import with_limits
from tf_opdiff.suites.forms.options import with_options
from tf_opdiff.suites.forms.part import Op, Part, of_fields, separated
from tf_opdiff.suites.forms.recipes.operands import Operands
from tf_opdiff.suites.forms.reductions.overflow import overflow
from tf_opdiff.suites.forms.special_operands import special_operands
from tf_opdiff.suites.forms.unary import Unary
from tf_opdiff.suites.reference.arrays.moves import Moved
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.promises.promise import Promise

#: The records of declarations, and the aspects, of kinds of promises.
_KINDS: Mapping[type[Promise], tuple[type[Op], tuple[Any, ...]]] = {Moved: (Moves, MOVING), Placed: (Layout, LAYING)}


def op(name: str, raw: str, *own_parts: Part, parts: Any = (), fields: Any = None, **declared: Any) -> tuple[Spec, ...]:
    """The specs of an op. If it is elementwise, its inputs also have zero elements and one: see `with_sizes`.

    Its options are those of `suites.forms.options`.

    An op whose promise is a `Moved` has the fields of `Moves`, and its aspects; `Placed`: those of `Layout`.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      own_parts, parts: functions from an `Op` to specs, which no aspect has.
      fields: further fields of all specs.
      declared: the other fields of `Op`, and further fields of all specs. With `f`, the function of one real number,
        the fields of `Unary` too.

    Raises:
      TypeError, ValueError: a word is unknown or lacks another one, the op has no specs, or it leaves out an aspect
        that it does not have.
    """
    try:
        return _declared(name, raw, (*own_parts, *parts), fields or {}, declared)
    except (TypeError, ValueError) as why:
        says = str(why) if str(why).startswith("spec ") else f"op {name}: {why}"
        raise (TypeError if isinstance(why, TypeError) else ValueError)(says) from why


def _declared(
    name: str, raw: str, parts: Iterable[Part], fields: Mapping[str, Any], declared: Mapping[str, Any]
) -> tuple[Spec, ...]:
    """The specs of an op: see `op`."""
    if "f" in declared:  # an elementwise op of one real number
        unary, declared = separated(Unary, {"dtypes": taken_by_cpu(raw, FLOATS), **declared})
        parts = (unary.specs, *parts)
    record, aspects = _kind(declared.get("promise"))
    own, more = of_fields(record, declared)
    subject = record(name=name, raw=raw, fields={**fields, **more}, **{"arguments": inputs_of(raw), **own})
    specs = list(_specs(subject, aspects, parts))
    if not specs:
        raise ValueError("it has no specs: expected recipes, parts, or f and df")
    specs += in_any_dtype(subject, specs) if subject.any_dtype else ()
    specs += elementwise_sizes(specs, _shapes(len(subject.arguments)))
    specs += with_options(raw, specs, subject.limited)
    specs += _special(subject, specs, moves=aspects is not ASPECTS)
    specs += gradients_of_refused(specs)
    specs += with_limits(subject.limits or raw, specs, subject.limited)
    if unknown := subject.without.keys() - {spec.aspect for spec in specs}:
        raise ValueError(f"without: there is no aspect {sorted(unknown)}")
    kept = (spec for spec in specs if spec.aspect not in subject.without)
    changed = filter(None, map(subject.changed, kept) if subject.changed else kept)
    return tuple(map(_tiered, changed))


def _tiered(spec: Spec) -> Spec:
    """The spec; if it is in the default tier, the full tier has the dtypes for which another one stands."""
    others = stood_for(spec) if spec.tier == "default" else ()
    return spec.but(full_dtypes=others) if others else spec


def _kind(promise: Any) -> tuple[type[Op], tuple[Any, ...]]:
    """The record of an op with this promise, and its aspects."""
    return next((own for kind, own in _KINDS.items() if isinstance(promise, kind)), (Op, ASPECTS))


def _specs(subject: Op, aspects: Iterable[Part], parts: Iterable[Part]) -> Iterable[Spec]:
    first, *others = aspects  # a smoke run takes the first spec of an op: its values
    return (spec for each in (first, *parts, *others) for spec in each(subject))


def _special(subject: Op, specs: list[Spec], *, moves: bool) -> Iterable[Spec]:
    """The twins of an op's values with special and with large operands; none if it is elementwise, and has these.

    An op that moves elements has no large ones, and its recipe `special` has special ones in the default tier.
    """
    values = [spec for spec in specs if spec.ops == subject.raw and not spec.aspect]
    elementwise = any(spec.elementwise or spec.aspect == ELEMENTWISE for spec in specs)
    if values and not elementwise and "*" not in subject.ordinary:
        unpromised = {"grad": "the op has recipes at which gradients have no promise"} if subject.forward else {}
        ordinary, operands = {**unpromised, **subject.ordinary}, Operands.of(values[0])
        twins = special_operands(values[0], operands, ordinary)
        if moves:
            yield from (spec for spec in twins if spec.tier == "full")
        else:
            yield from (*twins, *overflow(values, operands, ordinary))


#: The aspects of an op that `also` leaves out.
_OF_THE_OP: Mapping[str, Any] = {
    **{aspect: {} for aspect in ("forward", "batch", "small", "blocks", "wrong")},
    **dict.fromkeys(("second", "integers"), ()),
}


def also(suffix: str, *parts: Part, **declared: Any) -> Part:
    """A part: values of the op with other calls, recipes, dtypes or modes.

    Args:
      suffix: the end of the names of its specs.
      parts: as of `op`.
      declared: the fields of `Op`, and fields of the specs, in place of those of the op. It has the aspects of
        `_OF_THE_OP` only if it declares them.
    """
    own, more = of_fields(Op, declared)

    def specs(op: Op) -> Iterable[Spec]:
        fields = {**op.fields, **more}
        changed = replace(op, **{"name": op.name + suffix, "fields": fields, **_OF_THE_OP, **own})
        return _specs(changed, ASPECTS, parts)

    return specs


def with_sizes(*parts: Part, shapes: Shapes | None = None) -> Part:
    """The parts, with tensors of zero elements and of one; an op has this for its elementwise parts by itself.

    Args:
      parts: the parts.
      shapes: the shapes, if they are not the usual ones, such as those of an op that broadcasts nothing.
    """

    def specs(op: Op) -> Iterable[Spec]:
        own = [spec for part in parts for spec in part(op)]
        return [*own, *elementwise_sizes(own, shapes or _shapes(len(op.arguments)))]

    return specs


def _shapes(inputs: int) -> Shapes:
    """The shapes of an op of one input, of two that are broadcast together, or of more that have one shape."""
    return PAIRS if inputs == 2 else alike(inputs)
