"""Arg extreme: the specs of ops that return the index of an extreme element along one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.reduction_recipes import OF_INTEGERS, infinite, large, plain, small_integers, special, ties
from tf_opdiff.suites.forms.views import Viewed, Views, repeated

#: The calls of one program: each axis, from either end, and both dtypes of results that every device has.
VIEWS: Views = {
    "first": {"axis": 0, "to": "int64"},
    "middle": {"axis": -2, "to": "int32"},
    "last": {"axis": 2, "to": "int64"},
    "from_end": {"axis": -3, "to": "int32"},
}
_LAST: Views = {"last": {"axis": -1, "to": "int64"}}
#: Axes that no tensor of rank 3 has, and a list of axes.
WRONG_AXES = {"past_last": 3, "before_first": -4, "beyond": 2**31 - 1, "vector": [0]}
#: Inputs whose last axis has elements.
_SOME = {label: shape for label, shape in EMPTY.items() if shape[-1]}
_NONE = {label: shape for label, shape in EMPTY.items() if not shape[-1]}
_RECIPES: Mapping[str, Recipe] = {
    "plain": plain,
    "exact": small_integers,
    "ties": ties,
    "large": large,
    "infinite": infinite,
}


def arg_extreme(name: str, op: str, function: Callable[..., Any]) -> tuple[Spec, ...]:
    """The specs of an op: the smallest index of an extreme element; if there is NaN, the index of a NaN.

    Args:
      name: the name with which theirs begin.
      op: the OpDef, with the inputs `input` and `dimension`.
      function: NumPy's function of an array and an axis.
    """

    def index(x: Any, axis: int, to: str) -> np.ndarray:
        return np.asarray(function(x, axis=axis), to)

    def other_nans(dtype: np.dtype, x: Any, axis: int, to: str) -> list[np.ndarray]:
        first = index(x, axis, to)
        if x.dtype.kind != "f" or not np.isnan(x).any():
            return []
        order = np.cumsum(np.isnan(x), axis=axis)
        later = [np.argmax(order == n, axis=axis) for n in range(2, int(order.max(initial=0)) + 1)]
        return [np.where((order == n).any(axis=axis), k, first).astype(to) for n, k in enumerate(later, 2)]

    viewed = Viewed(
        call=lambda tf, x, axis, to: getattr(tf.raw_ops, op)(input=x, dimension=axis, output_type=to),
        f=index,
        alternatives=other_nans,
    )
    fields = viewed.fields(VIEWS)
    unconnected = replace(viewed, vjp=lambda g, x, axis, to: None)
    main = Spec(name=name, ops=op, recipes=_repeated(_RECIPES), **unconnected.fields(VIEWS))
    nans = Spec(name=f"{name}-nan", ops=op, recipes=_repeated({"special": special}), **fields)
    whole = Spec(name=f"{name}-integer", ops=op, recipes=_repeated(OF_INTEGERS), dtypes=("int32",), **fields)
    truth = replace(whole, name=f"{name}-bool", recipes=_repeated({"plain": plain}), dtypes=("bool",), tier="full")
    rest = tuple(dtype for dtype in FLOATS if dtype != "float32")
    integers = tuple(dtype for dtype in INTEGERS if dtype != "int32")
    small = {label: _shaped(shape) for label, shape in _SOME.items()}
    one = Spec(name=name, ops=op, recipes=small, constant=("output[0]",), **viewed.fields(_LAST))
    return (
        main,
        *batches(Spec(name=name, ops=op, recipes={"plain": plain}, tier="full", **viewed.fields(_LAST)), plain),
        nans,
        whole,
        truth,
        replace(main, name=f"{name}-other", dtypes=rest, tier="full"),
        replace(nans, name=f"{name}-nan-other", dtypes=rest, tier="full"),
        replace(whole, name=f"{name}-integer-other", dtypes=integers, tier="full"),
        *sizes(one, small),
        *_wrong(name, op),
    )


def _repeated(recipes: Mapping[str, Recipe]) -> dict[str, Recipe]:
    return {label: repeated(recipe, VIEWS) for label, recipe in recipes.items()}


def _shaped(shape: tuple[int, ...]) -> Recipe:
    return lambda draw, dtype: (draw.uniform(*shape).astype(dtype),)


def _wrong(name: str, op: str) -> tuple[Spec, ...]:
    """The specs of axes that the input does not have, and of an axis without elements: an error in every mode."""

    def program(tf: Any, x: Any, axis: Any) -> Any:
        return getattr(tf.raw_ops, op)(input=x, dimension=axis)

    wrong = Spec(
        name=f"{name}-wrong-axes",
        ops=op,
        program=program,
        reference=raises("ValueError"),
        contract=REFUSED_BY_KERNEL,
        recipes={"plain": lambda draw, dtype: plain(draw, dtype)},
        attrs={label: {"axis": axis} for label, axis in WRONG_AXES.items()},
    )
    nothing = replace(
        wrong,
        name=f"{name}-of-nothing",
        reference=raises("INVALID_ARGUMENT"),
        contract={},
        recipes={label: _shaped(shape) for label, shape in _NONE.items()},
        attrs={"last": {"axis": -1}},
    )
    return wrong, nothing
