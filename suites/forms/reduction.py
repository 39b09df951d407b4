"""Reduction: the specs of an op that takes the elements along some axes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, fed, in_shapes, second_order, small
from tf_opdiff.suites.forms.calls import Calls, call
from tf_opdiff.suites.forms.elements import from_one
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import Part, part, separated, tiered
from tf_opdiff.suites.forms.reduced import Reduced
from tf_opdiff.suites.forms.reduction_recipes import OF_INTEGERS, RECIPES, few, filled, plain
from tf_opdiff.suites.reference.accumulation import Axis, axes

#: The calls of one program: all axes, single ones from either end, two, none, and one that is kept with size 1.
CALLS: Calls = {
    "all": call(axis=(0, 1, 2), keep_dims=False),
    "first": call(axis=(0,), keep_dims=False),
    "middle": call(axis=(-2,), keep_dims=False),
    "last": call(axis=(-1,), keep_dims=False),
    "outer": call(axis=(2, 0), keep_dims=False),
    "none": call(axis=(), keep_dims=False),
    "kept": call(axis=(1, -1), keep_dims=True),
}
#: The calls for tensors of any rank from 1 on, and for second order, whose errors grow with the number of elements.
_ENDS: Calls = {"first": CALLS["first"], "last": call(axis=(-1,), keep_dims=True)}
_ROWS: Calls = {"last": CALLS["last"], "inner": call(axis=(1, 2), keep_dims=True)}
#: Lists of axes that no tensor of rank 3 has.
_WRONG_AXES = {"past_last": [3], "before_first": [-4], "beyond": [2**31 - 1], "one_of_two": [0, 5], "matrix": [[0, 1]]}
#: Axes that come twice, which shape inference lets pass.
_REPEATED_AXES = {"twice": [1, 1], "twice_negative": [0, -3]}
_FED_AXES = {
    "scalar": np.array(-2, "int32"),
    "first": np.array([0], "int32"),
    "two": np.array([2, -2], "int64"),
    "all": np.array([0, 1, 2], "int64"),
    "none": np.array([], "int32"),
}


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """What a reduction has in addition to the fields of an `Op`, or with other defaults.

    recipes          the recipes of floats.
    forward          recipes of floats at which gradients have no promise.
    complex_recipes  the recipes of complex numbers; none if it refuses them. Zeros of either sign are right.
    integers         its promise of integers; None if it refuses them.
    of_integers      the recipes of integers.
    long             the recipes of long reductions, whose numbers have shape `LONG` or its transpose; none if it has
                     none.
    second           the recipe of second order.
    """

    recipes: Mapping[str, Recipe] = field(default_factory=lambda: RECIPES)
    forward: Mapping[str, Recipe] = field(default_factory=dict)
    complex_recipes: Mapping[str, Recipe] = field(default_factory=dict)
    integers: Reduced | None = None
    of_integers: Mapping[str, Recipe] = field(default_factory=lambda: OF_INTEGERS)
    long: Mapping[str, Recipe] = field(default_factory=dict)
    second: str = "plain"


def reduction(name: str, raw: str, promise: Reduced, **declared: Any) -> tuple[Spec, ...]:
    """The specs of a reduction. The default tier has float32 and int32, the full tier all other dtypes.

    Args:
      name: the name with which those of its specs begin.
      raw: the OpDef, with the inputs `input` and `axis` and the attribute `keep_dims`.
      promise: its promise of floats and complex numbers.
      declared: the fields of `Reduction`, and further fields of all specs, such as `modes`.
    """
    of, more = separated(Reduction, declared)
    parts = [*_long(name, of.long)] if of.long else []
    if promise.jvp:
        parts.append(second_order({of.second: of.recipes[of.second]}, _ENDS))
    if of.complex_recipes:
        unsigned = ("output", "grad")
        parts.append(part("-complex", recipes=of.complex_recipes, dtypes=COMPLEX, tier="full", unsigned_zeros=unsigned))
    if of.integers:
        own = {label: replace(each, promise=of.integers.promise()) for label, each in CALLS.items()}
        parts.append(part("-integer", calls=own, recipes=of.of_integers, dtypes=tiered(INTEGERS), gradient=False))
    return op(
        name,
        raw,
        *parts,
        *_of_all(next(iter(of.recipes.values())), gradient=promise.vjp is not None),
        arguments=("input",),
        calls=CALLS,
        promise=promise.promise(),
        dtypes=tiered(FLOATS),
        gradient=promise.vjp is not None,
        recipes=of.recipes,
        forward=of.forward,
        **more,
    )


def truth(name: str, raw: str, function: Callable[..., Any]) -> tuple[Spec, ...]:
    """The specs of a reduction of truth values by `function`, of an array, `axis` and `keepdims`."""

    def reduced(x: np.ndarray, axis: Axis) -> np.ndarray:
        return np.asarray(function(x, axis=axes(axis, x.ndim), keepdims=True))

    return op(
        name,
        raw,
        *_of_all(plain, gradient=False),
        arguments=("input",),
        calls=CALLS,
        promise=Reduced(f=reduced, flushes=False).promise(),
        dtypes=("bool",),
        gradient=False,
        recipes={"plain": plain, "few": few, "true": filled(True), "false": filled(False)},
    )


def _of_all(recipe: Recipe, *, gradient: bool) -> Iterator[Part]:
    """The parts of every reduction: rows of a batch, small inputs, axes that are an input, and wrong axes."""
    yield batches(_ROWS, recipe)
    yield small(in_shapes(EMPTY, from_one), _ENDS)
    yield fed("-fed-axes", plain, {"axis": _FED_AXES}, literal=_literal, attrs={}, gradient=gradient)
    for suffix, wrong, promise in (("wrong", _WRONG_AXES, WHEN_BUILT), ("repeated", _REPEATED_AXES, IN_KERNEL)):
        attrs = {label: {"axis": axis} for label, axis in wrong.items()}
        yield part(f"-{suffix}-axes", recipes={"plain": plain}, attrs=attrs, lowest_tier=True, **promise)


def _literal(axis: np.ndarray) -> Axis:
    return tuple(np.atleast_1d(axis).tolist())


def _long(name: str, recipes: Mapping[str, Recipe]) -> Iterator[Part]:
    """Long reductions along rows and along columns, without gradients, in float32 and in 16 bits."""

    def turned(recipe: Recipe) -> Recipe:
        return lambda draw, dtype: tuple(x.T.copy() for x in recipe(draw, dtype))

    for label, axis, own in (
        ("rows", 1, recipes),
        ("columns", 0, {label: turned(recipe) for label, recipe in recipes.items()}),
    ):
        calls = {f"{name}-long-{label}": call(axis=(axis,), keep_dims=False)}
        dtypes = ("float32", "float16", "bfloat16")
        yield part(f"-long-{label}", calls=calls, recipes=own, dtypes=dtypes, gradient=False)
