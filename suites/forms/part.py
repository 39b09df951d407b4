"""Part: the declaration of an op, and the parts that specs are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.hessian import Hessian, second_orders
from tf_opdiff.suites.derived.position import positions as positions_of
from tf_opdiff.suites.derived.special_places import short, special_outer, special_source
from tf_opdiff.suites.derived.twin import ELEMENTWISE, by_tier
from tf_opdiff.suites.forms.calls import Call, Calls, Shape, Wrong, inputs
from tf_opdiff.suites.forms.calls import fields as promises
from tf_opdiff.suites.forms.elementwise.special_upstreams import every_kind
from tf_opdiff.suites.forms.recipes.elements import Elements, plain, small_integers
from tf_opdiff.suites.forms.state.variables import Variables
from tf_opdiff.suites.reference.promises.promise import Promise

#: Some dtypes; or dtype → tier.
Dtypes = Sequence[str] | Mapping[str, str]
#: Label → the recipe of a call, or the elements of each of its inputs: see `suites.forms.calls.inputs`.
Recipes = Mapping[str, Recipe | Elements | Sequence[Elements]]
_Record = TypeVar("_Record")


@dataclass(frozen=True, kw_only=True)
class Op:
    """The declaration of an op: what all of its specs share, and what each of its aspects needs.

    name        the name with which those of its specs begin.
    raw         the OpDef.
    arguments   the names of its inputs, in order, for a program that is not given; by default, those of the OpDef if
                `suites/derived/op_types.json` lists it, else `x` and `y`.
    program     program(tf, *inputs, **attributes); by default, it calls the OpDef. With variables or another `state`,
                program(tf, state, *inputs, **attributes); by default, it also reads the variable.
    variables   the variables that it changes: its first inputs are their first values. None if it has no state.
    promise     the promise of the calls that have none, or a function that makes it of the attributes of a call.
    calls       label → a call; one program makes all of them. None for an op that is called once.
    dtypes      its dtypes; or dtype → tier.
    gradient    whether TensorFlow has a gradient of it.
    recipes     the recipes of its values; none if no aspect is about them.
    upstreams   label of such a recipe → special upstreams.
    forward     the recipes at which gradients have no promise.
    second      the labels of the recipes of second order; none if TensorFlow has none.
    integers    its dtypes of integers, which have no gradients.
    of_integers the recipes of integers.
    batch       label → a call whose inputs and result have a batch as their first axis.
    shared      the numbers of the inputs of these calls that all rows share.
    small       label → a call, or calls, with inputs without elements, or with one; all labels have the same calls.
    of_small    the elements of each of their inputs; those of the last one serve all further inputs.
    blocks      label → a call with more elements than a block of a kernel: see `suites.forms.blocks`.
    of_blocks   the elements of each of their inputs.
    blocks_in   the dtypes of these calls, where `dtypes` has them; float64 has no blocks of its own.
    any_dtype   whether it moves elements whatever their dtype: see `suites.forms.array_ops.any_dtype`. Or the OpDef of
                its program that takes the fewest dtypes.
    ordinary    pattern of special numbers and operands, such as `*inf_0`, or `grad` → why specs with special operands
                leave them out: see `suites.forms.special_operands` and `suites.forms.recipes.ordinary`.
    wrong       label → a call that the op refuses; or the shapes of its inputs, if shape inference refuses them.
    limits      the OpDef whose integer arguments stand at their limits, of an op whose specs are about several.
    limited     a program that calls the OpDef by name, for limits and fractions, if `program` calls another function.
    without     aspect → the reason why the op has no specs of it.
    fields      further fields of all specs, such as `modes`.
    changed     changed(spec) → the spec with other fields, or None to leave it out, where no other field says so.
    """

    name: str
    raw: str
    arguments: tuple[str, ...] = ("x", "y")
    program: Callable[..., Any] | None = None
    variables: Variables | None = None
    promise: Promise | Callable[..., Promise] | None = None
    calls: Calls | None = None
    dtypes: Dtypes = ("float32",)
    gradient: bool = True
    recipes: Recipes = field(default_factory=dict)
    upstreams: Mapping[str, Elements] = field(default_factory=lambda: {"upstreams": every_kind})
    forward: Recipes = field(default_factory=dict)
    second: tuple[str, ...] = ()
    integers: Dtypes = ()
    of_integers: Recipes = field(default_factory=dict)
    batch: Calls = field(default_factory=dict)
    shared: tuple[int, ...] = ()
    small: Mapping[str, Calls | Call] = field(default_factory=dict)
    of_small: Elements | Sequence[Elements] = (small_integers,)
    blocks: Calls = field(default_factory=dict)
    of_blocks: Elements | Sequence[Elements] = plain
    blocks_in: Sequence[str] = ("float32", "float16", "bfloat16")
    wrong: Mapping[str, Wrong | Sequence[Shape]] = field(default_factory=dict)
    limits: str = ""
    limited: Callable[..., Any] | None = None
    any_dtype: bool | str = False
    ordinary: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    changed: Callable[[Spec], Spec | None] | None = None

    @cached_property
    def called(self) -> Callable[..., Any]:
        """Its program: one function, which its specs share."""
        call = self.program or calling(self.raw, self.arguments)
        return self.variables.changing(call) if self.variables and not self.program else call

    @property
    def reference(self) -> Any:
        """The reference of the parts that have no other; None if each has its own, or the calls have promises."""
        return self.fields.get("reference")


#: A part of an op: a function from the op to specs.
Part = Callable[[Op], Iterable[Spec]]
Twins = Callable[[Spec], Iterable[Spec]]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a part asks of its op, in addition to the fields of its spec.

    calls         the calls of its program, in place of those of the op.
    dtypes        its dtypes, or dtype → tier, in place of those of the op. Those of a higher tier than the first one
                  have a spec of their own, whose name ends with `-other`.
    lowest_tier   whether it leaves out the dtypes of higher tiers.
    of_others     the labels of the recipes for these; by default, all.
    twins         functions from each spec to further specs.
    hessian       its second derivatives, which twins promise, of an op of several floats.
    linear        the twins of second order of an op that is linear: see `suites.derived.hessian.linear`. Those of the
                  lowest tier.
    positions     whether the spec's twins, which move values within a tensor or to short tensors, are part of it; those
                  of the lowest tier.
    sizes         whether its values stand in tensors of zero elements and of one: see `suites.forms.op`. By default, if
                  it is elementwise.
    gradient      whether gradients are promised; None for what the op says.
    second_order  whether forward mode and second order are promised.
    rounded       families of quantities: see `suites.forms.calls.fields`.
    """

    calls: Calls | None = None
    dtypes: Dtypes | None = None
    lowest_tier: bool = False
    of_others: Collection[str] | None = None
    twins: Sequence[Twins] = ()
    hessian: Hessian | None = None
    linear: Twins | None = None
    positions: bool = False
    sizes: bool | None = None
    gradient: bool | None = None
    second_order: bool = False
    rounded: Collection[str] | None = None


def part(suffix: str = "", **declared: Any) -> Part:
    """A part that promises results or an error: one spec, named by the op's name and a suffix.

    Args:
      suffix: the end of the spec's name.
      declared: the fields of `Asked`, and those of the spec, which take the place of the op's.
    """
    asked, own_fields = separated(Asked, declared)

    def specs(op: Op) -> Iterable[Spec]:
        chosen, own = op.calls if asked.calls is None else asked.calls, dict(own_fields)
        promised: dict[str, Any] = {"program": op.called, "reference": None}  # a spec without one is refused
        if chosen and (asked.calls is not None or "reference" not in own_fields):
            how: dict[str, Any] = {"second": asked.second_order, "rounded": asked.rounded}
            smooth = op.gradient if asked.gradient is None else asked.gradient
            promised |= promises(chosen, op.called, op.promise, gradient=smooth, **how)
            own["recipes"] = {label: inputs(chosen, recipe) for label, recipe in own["recipes"].items()}
        if "reference" in own_fields:
            promised = {"program": promised["program"]}
        state = op.variables.fields if op.variables else {}
        sized = (asked.positions or own.get("elementwise")) if asked.sizes is None else asked.sizes
        each = {"ops": op.raw, **promised, **state, **op.fields, **own, "aspect": ELEMENTWISE if sized else ""}
        tiers = list(by_tier(op.dtypes if asked.dtypes is None else asked.dtypes))
        for end, of_tier in tiers[:1] if asked.lowest_tier else tiers:
            fewer = asked.of_others if end else None
            recipes = {} if fewer is None else {"recipes": {label: each["recipes"][label] for label in fewer}}
            spec = Spec(**{"name": op.name + suffix + end, **of_tier, **each, **recipes})
            yield from (spec, *(twin for twins_of in asked.twins for twin in twins_of(spec)))
            if asked.linear and not end:
                yield from asked.linear(spec)
            if asked.hessian and not end:
                yield from second_orders(spec, op.name, asked.hessian)
            if asked.positions and not end:
                yield from _moved(spec, len(op.arguments))

    return specs


def separated(record: type[_Record], declared: Mapping[str, Any]) -> tuple[_Record, dict[str, Any]]:
    """A record of the declared values of its fields, and the other declared values."""
    own, others = of_fields(record, declared)
    return record(**own), others


def of_fields(record: type[Any], declared: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The declared values of the fields of a record, and the other declared values."""
    names = {each.name for each in fields(record)}
    own = {name: value for name, value in declared.items() if name in names}
    return own, {name: value for name, value in declared.items() if name not in names}


def each_dtype(dtypes: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The end of a spec's name, the dtype and its tier, where each dtype has a program of its own."""
    for number, (dtype, tier) in enumerate(dtypes.items()):
        yield f"-{dtype}" if number else "", dtype, tier


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


def together(*parts: Part) -> Part:
    """Several parts as one."""
    return lambda op: [spec for part in parts for spec in part(op)]


def calling(op: str, names: tuple[str, ...], output: int | None = None, **attributes: Any) -> Callable[..., Any]:
    """A program that calls a raw op, whose inputs have these names; one output of an op with several."""

    def program(tf: Any, *xs: Any, **attrs: Any) -> Any:
        result = getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attributes, **attrs)
        return result if output is None else result[output]

    def of_one(tf: Any, x: Any, **attrs: Any) -> Any:
        return program(tf, x, **attrs)

    return of_one if len(names) == 1 else program  # a sweep needs a program of one input


def each_output(op: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """A program that calls a raw op and returns one output, whose number is the attribute `output` of the call."""
    return lambda tf, *xs, output, **attrs: calling(op, names, output, **attrs)(tf, *xs)


def unconnected(g: Any, *xs: Any) -> tuple[None, ...]:
    """The VJP of an op that no gradient passes: None for every input, not zeros."""
    return (None,) * len(xs)
