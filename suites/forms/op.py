"""Op: the declaration of an op, made of parts. Each part becomes a spec, or a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions as twins
from tf_opdiff.suites.derived.sizes import PAIRS, Shapes, alike, elementwise_sizes
from tf_opdiff.suites.derived.special_places import short, special_outer, special_source


@dataclass(frozen=True, kw_only=True)
class Op:
    """The values that the specs of an op share.

    name        the name with which theirs begin.
    raw         the OpDef.
    program     as of a spec.
    reference   as of a spec; for the parts that have no other reference.
    inputs      the number of inputs.
    """

    name: str
    raw: str
    program: Callable[..., Any]
    reference: Any = None
    inputs: int = 2


Part = Callable[[Op], Iterable[Spec]]


def op(
    name: str,
    raw: str,
    *parts: Part,
    reference: Callable[..., Any] | None = None,
    program: Callable[..., Any] | None = None,
    arguments: tuple[str, ...] = ("x", "y"),
) -> tuple[Spec, ...]:
    """The specs of an op. If it is elementwise, its inputs also have zero elements and one: see `with_sizes`.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs.
      reference: reference(*inputs) of the parts that have no other.
      program: program(tf, *inputs); by default, it calls the raw op.
      arguments: the names of the raw op's inputs, in order.
    """
    program = program or calling(raw, arguments)
    subject = Op(name=name, raw=raw, program=program, reference=reference, inputs=len(arguments))
    specs = tuple(together(*parts)(subject))
    return (*specs, *elementwise_sizes(specs, _shapes(subject.inputs)))


def part(suffix: str = "", *, positions: bool = False, **fields: Any) -> Part:
    """A part that is one spec, named by the op's name and a suffix.

    Args:
      suffix: the end of the spec's name.
      positions: whether the spec's twins, which move values within a tensor or to short tensors, are part of it.
      fields: the fields of the spec; those that it shares with the op take the place of the op's.
    """

    def specs(op: Op) -> Iterable[Spec]:
        shared: dict[str, Any] = {
            "name": op.name + suffix,
            "ops": op.raw,
            "program": op.program,
            "reference": op.reference,
        }
        spec = Spec(**shared | fields)
        if not positions:
            return (spec,)
        source = special_source(spec) if isinstance(spec.ops, str) else None  # Python may return its argument: no op
        if not source:
            return (spec, *twins(spec))
        # Of three inputs there are hundreds of combinations, and eager mode calls the op for each of them.
        small = short(spec, source, "default" if op.inputs <= 2 else "full")
        return (spec, *twins(spec), *small, *(special_outer(spec, source) if op.inputs == 2 else ()))

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
        return [*own, *elementwise_sizes(own, shapes or _shapes(op.inputs), named)]

    return specs


def _shapes(inputs: int) -> Shapes:
    """The shapes of an op of one input, of two that are broadcast together, or of more that have one shape."""
    return PAIRS if inputs == 2 else alike(inputs)


def together(*parts: Part) -> Part:
    """Several parts as one."""
    return lambda op: [spec for part in parts for spec in part(op)]


def calling(op: str, names: tuple[str, ...], output: int | None = None, **attributes: Any) -> Callable[..., Any]:
    """A program that calls a raw op, whose inputs have these names; one output of an op with several."""

    def program(tf: Any, *xs: Any) -> Any:
        result = getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attributes)
        return result if output is None else result[output]

    return program


def unconnected(g: Any, *xs: Any) -> tuple[None, ...]:
    """The VJP of an op that no gradient passes: None for every input, not zeros."""
    return (None,) * len(xs)
