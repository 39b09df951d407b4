"""Reduction: the parts and the promise of an op that takes the elements along some axes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, fed, in_shapes, small
from tf_opdiff.suites.forms.calls import Calls, call
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, Recipes, part, tiered, together
from tf_opdiff.suites.forms.recipes.elements import from_one
from tf_opdiff.suites.forms.reductions.reduction_recipes import OF_INTEGERS, RECIPES, plain
from tf_opdiff.suites.reference.promises.accumulation import Axis, axes
from tf_opdiff.suites.reference.promises.promise import OfOneTensor, Promise
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

Function = Callable[..., Any]
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
ENDS: Calls = {"first": CALLS["first"], "last": call(axis=(-1,), keep_dims=True)}
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


#: The fields of an `Op` that all reductions of floats share.
REDUCED: Mapping[str, Any] = {
    "arguments": ("input",),
    "calls": CALLS,
    "dtypes": tiered(FLOATS),
    "recipes": RECIPES,
}


def of_axes(op: Op) -> Iterator[Spec]:
    """The specs of every reduction: rows of a batch, small inputs, axes that are an input, and wrong axes."""
    parts = [
        batches(_ROWS, next(iter(op.recipes.values()))),
        small(in_shapes(EMPTY, from_one), ENDS),
        fed("-fed-axes", plain, {"axis": _FED_AXES}, literal=_literal, attrs={}, gradient=op.gradient),
    ]
    for suffix, wrong, promise in (("wrong", _WRONG_AXES, WHEN_BUILT), ("repeated", _REPEATED_AXES, IN_KERNEL)):
        attrs = {label: {"axis": axis} for label, axis in wrong.items()}
        parts.append(part(f"-{suffix}-axes", recipes={"plain": plain}, attrs=attrs, lowest_tier=True, **promise))
    for own in parts:
        yield from own(op)


def of_complex(recipes: Recipes) -> Part:
    """A part: complex numbers; zeros of either sign are right."""
    return part("-complex", recipes=recipes, dtypes=COMPLEX, tier="full", unsigned_zeros=("output", "grad"))


def of_integers(promise: Promise, recipes: Recipes = OF_INTEGERS) -> Part:
    """A part: integers, with a promise of their own."""
    calls = {label: replace(each, promise=promise) for label, each in CALLS.items()}
    return part("-integer", calls=calls, recipes=recipes, dtypes=tiered(INTEGERS), gradient=False)


def long(name: str, recipes: Recipes) -> Part:
    """A part: long reductions along rows and along columns, without gradients, in float32 and in 16 bits.

    Args:
      name: the name with which those of the results begin.
      recipes: the recipes of numbers in the shape `LONG`.
    """

    def turned(recipe: Any) -> Recipe:
        return lambda draw, dtype: tuple(x.T.copy() for x in recipe(draw, dtype))

    columns = {label: turned(recipe) for label, recipe in recipes.items()}
    return together(
        *(
            part(
                f"-long-{label}",
                calls={f"{name}-long-{label}": call(axis=(axis,), keep_dims=False)},
                recipes=own,
                dtypes=("float32", "float16", "bfloat16"),
                gradient=False,
            )
            for label, axis, own in (("rows", 1, recipes), ("columns", 0, columns))
        )
    )


def _literal(axis: np.ndarray) -> Axis:
    return tuple(np.atleast_1d(axis).tolist())


def reduced(f: Function, *, flushes: bool = True, **functions: Function) -> OfOneTensor:
    """The promise of a reduction, whose calls have the attributes `axis` and `keep_dims`.

    Args:
      f: f(x, axis) → the result; every function keeps the axes with size 1.
      flushes: whether subnormal terms, and results, may be flushed.
      functions: the others of `OfOneTensor`, with the axes as their last argument. A gradient has the shape of x. An
        upstream comes with the axes of size 1. Without `hvp`, second order is unconnected.
    """
    vjp = functions.get("vjp")
    promised = {name: _with_axes(function, name) for name, function in functions.items()}
    if "jvp" in functions:
        promised.setdefault("hvp", lambda g, t, x, axis, keep_dims=False: None)
    if flushes:
        promised["alternatives"] = lambda dtype, x, axis, keep_dims=False: wholes(
            *(_dropped(y, x, axis, keep_dims) for y in (flushed_in(dtype, f(x, axis)), f(flushed_in(dtype, x), axis)))
        )
    if flushes and vjp:
        promised["grad_alternatives"] = lambda dtype, g, x, axis, keep_dims=False: wholes(
            vjp(_kept(g, x, axis), flushed_in(dtype, x), axis)
        )
    return OfOneTensor(_with_axes(f, "f"), **promised)


#: The place of the upstream among the arguments of functions whose results have the shape of the input.
_UPSTREAM = {"vjp": 0, "hvp": 0, "grad_error": 1, "hvp_error": 1}


def _with_axes(function: Function, name: str) -> Function:
    """A function whose upstream has the axes of size 1, or whose result drops them unless they are kept."""
    if name not in _UPSTREAM:
        return lambda *xs, axis, keep_dims=False: _dropped(function(*xs, axis), xs[-1], axis, keep_dims)
    at = _UPSTREAM[name]
    return lambda *xs, axis, keep_dims=False: function(*xs[:at], _kept(xs[at], xs[-1], axis), *xs[at + 1 :], axis)


def _kept(g: Any, x: Any, axis: Axis) -> Any:
    where = axes(axis, x.ndim)
    return np.reshape(g, tuple(1 if i in where else n for i, n in enumerate(x.shape)))


def _dropped(y: Any, x: Any, axis: Axis, keep_dims: bool) -> Any:
    return np.asarray(y) if keep_dims else np.squeeze(y, axis=axes(axis, x.ndim))
