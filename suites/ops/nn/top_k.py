"""ApproxTopK, InTopKV2 and TopKV2: the largest numbers of each row. Of equal ones, the first one is first."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.reference import top_k as ref

_SHAPE, _K = (5, 23), 4


def _infinite(draw, dtype):
    """A recipe: infinities, zeros of both signs and the ends of the range, often repeated; of integers, the limits."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return (np.resize(np.array([info.max, info.min, 1, 0, info.max, 2, info.min + 1], dtype), _SHAPE),)
    return (np.resize(np.array([0.0, -np.inf, 1, np.inf, -1, 2, np.inf, -np.inf, 0.5]), _SHAPE).astype(dtype),)


_RECIPES = {
    "plain": lambda draw, d: (draw.values(d, *_SHAPE),),
    "ties": lambda draw, d: (draw.integers(*_SHAPE, low=0, high=4).astype(d),),
    "infinite": _infinite,
    "planes": lambda draw, d: (draw.values(d, 2, 1, 7),),
}
_SIZES = {
    "one": lambda draw, d: (draw.values(d, 1),),
    "no_rows": lambda draw, d: (draw.values(d, 0, 5),),
    "row": lambda draw, d: (draw.values(d, 1, 5),),
    "one_by_one": lambda draw, d: (draw.values(d, 1, 1),),
    "empty_inside": lambda draw, d: (draw.values(d, 2, 0, 3),),
}
_ZEROS = {"zeros": lambda draw, d: (np.resize(np.array([0.0, -0.0, -0.0, 1.0, 0.0]), _SHAPE).astype(d),)}


def _of_values(k):
    """The VJP: integers have none, nor have indices."""
    return lambda g, x: (ref.put(g[0], x, k),) if x.dtype.kind == "f" else (None,)


def _main(name, raw, call, recipes):
    """The spec of the values and the indices."""
    return Spec(
        name=name,
        ops=raw,
        program=lambda tf, x: tuple(call(tf, x, _K)),
        reference=partial(ref.top, k=_K),
        vjp=_of_values(_K),
        recipes=recipes,
    )


def _top(name, raw, call):
    """The specs of an op; call(tf, x, k) → its values and indices."""
    main = _main(name, raw, call, _RECIPES)
    few = Spec(
        name=f"{name}-few",
        ops=raw,
        program=lambda tf, x: (*call(tf, x, 0), *call(tf, x, x.shape[-1])),
        reference=lambda x: (*ref.top(x, 0), *ref.top(x, x.shape[-1])),
        recipes={"ties": _RECIPES["ties"]},
    )
    rest = tuple(d for d in (*FLOATS, *INTEGERS) if d != "float32")
    other = replace(main, name=f"{name}-other", dtypes=rest, tier="full")
    zeros = replace(main, name=f"{name}-zeros", vjp=None, recipes=_ZEROS)
    return (main, other, few, zeros, *_limits(main, call))


def _limits(main, call):
    """The specs of numbers that are too few, of small tensors, and of second order."""
    refused = Spec(
        name=f"{main.name}-refused",
        ops=main.ops,
        program=lambda tf, x: tuple(call(tf, x, 6)),
        recipes={"narrow": lambda draw, d: (draw.values(d, 2, 5),), "scalar": lambda draw, d: (draw.values(d),)},
        **WHEN_BUILT,
    )
    first = replace(
        main, program=lambda tf, x: tuple(call(tf, x, 1)), reference=partial(ref.top, k=1), vjp=_of_values(1)
    )
    return (
        refused,
        *batches(replace(main, tier="full"), _RECIPES["plain"]),
        *sizes(first, _SIZES),
        _curved(main.name, main.ops, call),
    )


def _curved(name, raw, call):
    """The spec of second order, of the values alone: the indices have no derivative."""
    return Spec(
        name=f"{name}-second-order",
        ops=raw,
        program=lambda tf, x: call(tf, x, _K)[0],
        reference=lambda x: ref.top(x, _K)[0],
        vjp=lambda g, x: (ref.put(g, x, _K),),
        jvp=lambda t, x: np.take_along_axis(t, ref.top(x, _K)[1].astype(int), -1),
        hvp=lambda g, t, x: (None,),
        recipes={"plain": _RECIPES["plain"]},
    )


def _with_gathered(call, k=_K):
    """A program: the largest numbers, and the numbers at the indices, whose order among equal numbers is open."""

    def program(tf, x):
        values, indices = call(tf, x, k)
        return values, tf.gather(x, indices, batch_dims=x.shape.rank - 1)

    return program


def _approximate(name, raw, call):
    """The specs of an op that does not say which of equal numbers is first."""
    main = _main(name, raw, call, {label: _RECIPES[label] for label in ("plain", "planes")})
    ties = Spec(
        name=f"{name}-ties",
        ops=raw,
        program=_with_gathered(call),
        reference=lambda x: (ref.top(x, _K)[0],) * 2,
        recipes={label: _RECIPES[label] for label in ("ties", "infinite")} | _ZEROS,
        unsigned_zeros=("output",),
    )
    rest = {"dtypes": ("float16", "bfloat16"), "tier": "full"}
    others = (replace(spec, name=f"{spec.name}-other", **rest) for spec in (main, ties))
    return (main, *others, ties, *_limits(main, call))


def _in_top(suffix="", **fields):
    """A spec of InTopKV2."""
    settings: dict[str, Any] = {
        "ops": "InTopKV2",
        "program": lambda tf, rows, targets, k: tf.raw_ops.InTopKV2(
            predictions=rows, targets=targets, k=tf.constant(k, targets.dtype)
        ),
        "reference": ref.in_top,
        "attrs": {"three": {"k": 3}, "one": {"k": 1}, "none": {"k": 0}, "all": {"k": 9}, "negative": {"k": -1}},
    }
    return Spec(name=f"in-top-k-v2{suffix}", **settings | fields)


def _predictions(index, *shape, special=True):
    """A recipe: predictions with ties, with infinities and NaN in some rows, and the class of each row."""

    def recipe(draw, dtype):
        rows = draw.integers(*shape, low=-2, high=3).astype("float32")
        if special:
            rows[1, 3], rows[2, 0], rows[3, 6], rows[4, 1:3] = np.inf, np.nan, -np.inf, (0.0, -0.0)
        return rows, (np.arange(shape[0]) * 3 % max(shape[1], 1)).astype(index)

    return recipe


def _targets(*targets, index="int32", width=7):
    """A recipe: predictions with ties, and these classes."""
    return lambda draw, dtype: (
        draw.integers(5, width, low=-2, high=3).astype("float32"),
        np.array(targets, index),
    )


SPECS = (
    *_approximate("approx-top-k", "ApproxTopK", lambda tf, x, k: tf.raw_ops.ApproxTopK(input=x, k=k)),
    _in_top(
        recipes={
            "int32": _predictions("int32", 11, 7),
            "int64": _predictions("int64", 11, 7, special=False),
            "out_of_range": _targets(-1, 7, 2**31 - 1, 0, -(2**31)),
            "beyond_int32": _targets(2**32, 2**32 + 1, 0, 1, -(2**40), index="int64"),
        }
    ),
    *sizes(
        _in_top(attrs={"one": {"k": 1}}, recipes={"one": _predictions("int32", 1, 1, special=False)}),
        {
            "one_by_one": _predictions("int32", 1, 1, special=False),
            "no_rows": _predictions("int32", 0, 3, special=False),
            "row": _predictions("int64", 1, 5, special=False),
        },
    ),
    _in_top(
        "-misshapen",
        attrs={"one": {"k": 1}},
        recipes={
            "few_targets": _targets(0, 1),
            "matrix_of_targets": _targets([0], [1], [2], [3], [4]),
            "vector": lambda draw, dtype: (draw.values(np.dtype("float32"), 5), np.zeros(5, "int32")),
        },
        **WHEN_BUILT,
    ),
    *_top("top-k-v2", "TopKV2", lambda tf, x, k: tf.raw_ops.TopKV2(input=x, k=k)),
)
