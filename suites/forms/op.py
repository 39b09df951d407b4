"""Op: the declaration of an op, made of parts. Each part becomes a spec, or a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions as twins


@dataclass(frozen=True, kw_only=True)
class Op:
    """The values that the specs of an op share.

    name        the name with which theirs begin.
    raw         the OpDef.
    program     as of a spec.
    reference   as of a spec; for the parts that have no other reference.
    """

    name: str
    raw: str
    program: Callable[..., Any]
    reference: Any = None


Part = Callable[[Op], Iterable[Spec]]


def op(
    name: str,
    raw: str,
    *parts: Part,
    reference: Callable[..., Any] | None = None,
    program: Callable[..., Any] | None = None,
    arguments: tuple[str, ...] = ("x", "y"),
) -> tuple[Spec, ...]:
    """The specs of an op.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs.
      reference: reference(*inputs) of the parts that have no other.
      program: program(tf, *inputs); by default, it calls the raw op.
      arguments: the names of the raw op's inputs, in order.
    """
    subject = Op(name=name, raw=raw, program=program or calling(raw, arguments), reference=reference)
    return tuple(spec for part in parts for spec in part(subject))


def part(suffix: str = "", *, positions: bool = False, **fields: Any) -> Part:
    """A part that is one spec, named by the op's name and a suffix.

    Args:
      suffix: the end of the spec's name.
      positions: whether the spec's twins, which move values within a tensor, are part of it.
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
        return (spec, *twins(spec)) if positions else (spec,)

    return specs


def together(*parts: Part) -> Part:
    """Several parts as one."""
    return lambda op: [spec for part in parts for spec in part(op)]


def calling(op: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """A program that calls a raw op, whose inputs have these names."""
    return lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)))


def unconnected(g: Any, *xs: Any) -> tuple[None, ...]:
    """The VJP of an op that no gradient passes: None for every input, not zeros."""
    return (None,) * len(xs)
