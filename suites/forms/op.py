"""Op: the declaration of an op, made of parts. Each part becomes a spec, or a few."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tiers import TIERS
from tf_opdiff.suites.derived.position import positions as positions_of
from tf_opdiff.suites.derived.sizes import PAIRS, Shapes, alike, elementwise_sizes
from tf_opdiff.suites.derived.special_places import short, special_outer, special_source
from tf_opdiff.suites.forms.calls import Calls, inputs
from tf_opdiff.suites.forms.calls import fields as promises
from tf_opdiff.suites.reference.promise import Promise


@dataclass(frozen=True, kw_only=True)
class Op:
    """The values that the specs of an op share.

    name        the name with which theirs begin.
    raw         the OpDef.
    program     as of a spec, or of a call in `suites.forms.calls`.
    promise     the promise of the calls that have none.
    calls       the calls of the parts that have no other; None for an op that is called once.
    inputs      the number of inputs of an elementwise op.
    shared      further fields of all specs, such as `modes`.
    """

    name: str
    raw: str
    program: Callable[..., Any]
    promise: Promise | None = None
    calls: Calls | None = None
    inputs: int = 2
    shared: Mapping[str, Any] = field(default_factory=dict)


Part = Callable[[Op], Iterable[Spec]]
Twins = Callable[[Spec], Iterable[Spec]]


def op(
    name: str,
    raw: str,
    *parts: Part,
    program: Callable[..., Any] | None = None,
    promise: Promise | None = None,
    calls: Calls | None = None,
    arguments: tuple[str, ...] = ("x", "y"),
    **shared: Any,
) -> tuple[Spec, ...]:
    """The specs of an op. If it is elementwise, its inputs also have zero elements and one: see `with_sizes`.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs.
      program: program(tf, *inputs, **attributes); by default, it calls the raw op.
      promise: its promise, if it is called several times: see `suites.forms.calls`.
      calls: the calls of one program.
      arguments: the names of the raw op's inputs, in order.
      shared: further fields of all specs, which fields of a part replace.
    """
    program = program or calling(raw, arguments)
    subject = Op(
        name=name, raw=raw, program=program, promise=promise, calls=calls, inputs=len(arguments), shared=shared
    )
    specs = tuple(together(*parts)(subject))
    return (*specs, *elementwise_sizes(specs, _shapes(subject.inputs)))


def part(
    suffix: str = "",
    *,
    calls: Calls | None = None,
    dtypes: Sequence[str] | Mapping[str, str] = ("float32",),
    twins: Sequence[Twins] = (),
    positions: bool = False,
    gradient: bool = True,
    second: bool = False,
    rounded: Collection[str] | None = None,
    **fields: Any,
) -> Part:
    """A part that promises results or an error: one spec, named by the op's name and a suffix.

    Args:
      suffix: the end of the spec's name.
      calls: the calls of its program, in place of those of the op.
      dtypes: the dtypes; or dtype → tier. Those of a higher tier than the first one have a spec of their own, whose
        name ends with `-other`.
      twins: functions from each spec to further specs.
      positions: whether the spec's twins, which move values within a tensor or to short tensors, are part of it.
      gradient, second, rounded: the promises of the calls: see `suites.forms.calls.fields`.
      fields: the fields of the spec; those that it shares with the op take the place of the op's.
    """

    def specs(op: Op) -> Iterable[Spec]:
        chosen, own = op.calls if calls is None else calls, dict(fields)
        promised: dict[str, Any] = {"program": op.program}
        if chosen and "reference" not in fields:
            promised = promises(chosen, op.program, op.promise, gradient=gradient, second=second, rounded=rounded)
            own["recipes"] = {label: inputs(chosen, recipe) for label, recipe in own["recipes"].items()}
        each = {"ops": op.raw, **promised, **op.shared, **own}
        for end, of_tier in _by_tier(dtypes):
            spec = Spec(**{"name": op.name + suffix + end, **of_tier, **each})
            yield from (spec, *(twin for twins_of in twins for twin in twins_of(spec)))
            if positions:
                yield from _moved(spec, op.inputs)

    return specs


def _by_tier(dtypes: Sequence[str] | Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The specs for some dtypes: the end of their names, and the fields of their dtypes."""
    if not isinstance(dtypes, Mapping):
        yield "", {"dtypes": tuple(dtypes)}
        return
    for number, tier in enumerate(sorted(set(dtypes.values()), key=TIERS.index)):
        yield "-other" if number else "", {"dtypes": tuple(d for d, t in dtypes.items() if t == tier), "tier": tier}


def tiered(dtypes: Sequence[str], default: Collection[str] = ("float32", "int32")) -> dict[str, str]:
    """Dtype → tier: the default tier for float32 and int32, or other ones, and the full tier for the rest."""
    return {dtype: "default" if dtype in default else "full" for dtype in dtypes}


def _moved(spec: Spec, count: int) -> Iterable[Spec]:
    """The twins of a spec of an elementwise op with so many inputs: see `suites.derived.position`."""
    source = special_source(spec) if isinstance(spec.ops, str) else None  # Python may return its argument: no op
    if not source:
        return positions_of(spec)
    # Of three inputs there are hundreds of combinations, and eager mode calls the op for each of them.
    small = short(spec, source, "default" if count <= 2 else "full")
    return (*positions_of(spec), *small, *(special_outer(spec, source) if count == 2 else ()))


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

    def program(tf: Any, *xs: Any, **attrs: Any) -> Any:
        result = getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attributes, **attrs)
        return result if output is None else result[output]

    return program


def unconnected(g: Any, *xs: Any) -> tuple[None, ...]:
    """The VJP of an op that no gradient passes: None for every input, not zeros."""
    return (None,) * len(xs)
