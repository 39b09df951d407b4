"""ApproxTopK, InTopKV2 and TopKV2: the largest numbers of each row. Of equal ones, the first one is first."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.forms.aspects import batches, in_shapes, small
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.reference.reductions import top_k as ref

_SHAPE, _K = (5, 23), 4


def _infinite(draw, dtype):
    """A recipe: infinities, zeros of both signs and the ends of the range, often repeated; of integers, the limits."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return (np.resize(np.array([info.max, info.min, 1, 0, info.max, 2, info.min + 1], dtype), _SHAPE),)
    return (np.resize(np.array([0.0, -np.inf, 1, np.inf, -1, 2, np.inf, -np.inf, 0.5]), _SHAPE).astype(dtype),)


_RECIPES = {
    "plain": shaped(_SHAPE),
    "ties": lambda draw, d: (draw.integers(*_SHAPE, low=0, high=4).astype(d),),
    "infinite": _infinite,
    "planes": shaped((2, 1, 7)),
}
_SIZES = in_shapes(
    {"one": (1,), "no_rows": (0, 5), "row": (1, 5), "one_by_one": (1, 1), "empty_inside": (2, 0, 3)}, plain
)
#: Rows with more elements than a block of a kernel, and more of the largest ones than a warp has threads.
_LONG, _MANY = {"long": shaped((3, 1100)), "blocks": shaped((2, 4201))}, 70
_ZEROS = {"zeros": lambda draw, d: (np.resize(np.array([0.0, -0.0, -0.0, 1.0, 0.0]), _SHAPE).astype(d),)}


def _of_values(k):
    """The VJP: integers have none, nor have indices."""
    return lambda g, x: (ref.put(g[0], x, k),) if x.dtype.kind == "f" else (None,)


def _top(call, k=_K):
    """The fields of the values and the indices; call(tf, x, k) → both."""
    return {"program": lambda tf, x: tuple(call(tf, x, k)), "reference": partial(ref.top, k=k), "vjp": _of_values(k)}


def _limits(call):
    """Parts: numbers that are too few, batches, small tensors, and second order of the values alone."""
    few = {"narrow": shaped((2, 5)), "scalar": shaped(())}
    rows = {"plain": _RECIPES["plain"]}
    return (
        part("-refused", program=lambda tf, x: tuple(call(tf, x, 6)), recipes=few, **WHEN_BUILT),
        batches(None, rows["plain"], tier="full", **_top(call)),
        small(_SIZES, **_top(call, 1)),
        part(
            "-second-order",
            program=lambda tf, x: call(tf, x, _K)[0],
            reference=lambda x: ref.top(x, _K)[0],
            vjp=lambda g, x: (ref.put(g, x, _K),),
            jvp=lambda t, x: np.take_along_axis(t, ref.top(x, _K)[1].astype(int), -1),
            hvp=lambda g, t, x: (None,),
            recipes=rows,
        ),
    )


def _with_gathered(tf, x):
    """The largest numbers, and the numbers at the indices, whose order among equal numbers is open."""
    values, indices = _approximate(tf, x, _K)
    return values, tf.gather(x, indices, batch_dims=x.shape.rank - 1)


def _in_order(tf, x):
    """The largest numbers, and those at their indices, sorted: without `sorted`, the order is open."""
    values, indices = tf.raw_ops.TopKV2(input=x, k=_K, sorted=False)
    gathered = tf.gather(x, indices, batch_dims=1)
    return tuple(tf.sort(each, direction="DESCENDING") for each in (values, gathered))


def _approximate(tf, x, k):
    return tf.raw_ops.ApproxTopK(input=x, k=k)


def _exact(tf, x, k):
    return tf.raw_ops.TopKV2(input=x, k=k)


def _of_more(tf, x):
    """The largest of the approximate results: the op may give more than k."""
    values, _ = tf.raw_ops.ApproxTopK(input=x, k=_K, aggregate_to_topk=False)
    return tf.raw_ops.TopKV2(input=values, k=_K).values


def _smallest(x):
    """The smallest numbers and their indices."""
    values, indices = ref.top(-x, _K)
    return -values, indices


def _in_top(tf, rows, targets, k):
    return tf.raw_ops.InTopKV2(predictions=rows, targets=targets, k=tf.constant(k, targets.dtype))


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
    return lambda draw, dtype: (draw.integers(5, width, low=-2, high=3).astype("float32"), np.array(targets, index))


_KS = {"three": {"k": 3}, "one": {"k": 1}, "none": {"k": 0}, "all": {"k": 9}, "negative": {"k": -1}}
_ONE_K = {"one": _KS["one"]}
_FLOATS_OF_XLA = tiered(("float32", "float16", "bfloat16"))

SPECS = (
    *op(
        "approx-top-k",
        "ApproxTopK",
        part(
            recipes={label: _RECIPES[label] for label in ("plain", "planes")},
            dtypes=_FLOATS_OF_XLA,
            **_top(_approximate),
        ),
        part(
            "-ties",
            program=_with_gathered,
            reference=lambda x: (ref.top(x, _K)[0],) * 2,
            recipes={label: _RECIPES[label] for label in ("ties", "infinite")} | _ZEROS,
            dtypes=_FLOATS_OF_XLA,
            unsigned_zeros=("output",),
        ),
        part(
            "-smallest",
            program=lambda tf, x: tuple(tf.raw_ops.ApproxTopK(input=x, k=_K, is_max_k=False)),
            reference=_smallest,
            vjp=lambda g, x: (ref.put(g[0], -x, _K),),
            recipes={"plain": _RECIPES["plain"]},
        ),
        part(
            "-not-aggregated",
            program=_of_more,
            reference=lambda x: ref.top(x, _K)[0],
            recipes={"plain": _RECIPES["plain"]},
        ),
        *_limits(_approximate),
        ordinary=ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "in-top-k-v2",
        "InTopKV2",
        part(
            recipes={
                "int32": _predictions("int32", 11, 7),
                "int64": _predictions("int64", 11, 7, special=False),
                "out_of_range": _targets(-1, 7, 2**31 - 1, 0, -(2**31)),
                "beyond_int32": _targets(2**32, 2**32 + 1, 0, 1, -(2**40), index="int64"),
            },
            attrs=_KS,
        ),
        small(
            {
                "one_by_one": _predictions("int32", 1, 1, special=False),
                "no_rows": _predictions("int32", 0, 3, special=False),
                "row": _predictions("int64", 1, 5, special=False),
            },
            attrs=_ONE_K,
        ),
        part(
            "-misshapen",
            recipes={
                "few_targets": _targets(0, 1),
                "matrix_of_targets": _targets([0], [1], [2], [3], [4]),
                "vector": lambda draw, dtype: (draw.values(np.dtype("float32"), 5), np.zeros(5, "int32")),
            },
            attrs=_ONE_K,
            **WHEN_BUILT,
        ),
        program=_in_top,
        reference=ref.in_top,
        ordinary={"*": "the op's own recipes have special predictions"},
    ),
    *op(
        "top-k-v2",
        "TopKV2",
        part(recipes=_RECIPES, dtypes=tiered((*FLOATS, *INTEGERS), ("float32",)), **_top(_exact)),
        part(
            "-few",
            program=lambda tf, x: (*_exact(tf, x, 0), *_exact(tf, x, x.shape[-1])),
            reference=lambda x: (*ref.top(x, 0), *ref.top(x, x.shape[-1])),
            recipes={"ties": _RECIPES["ties"]},
        ),
        part("-zeros", recipes=_ZEROS, **_top(_exact) | {"vjp": None}),
        part("-blocks", recipes=_LONG, **_top(_exact, _MANY)),
        part("-unsorted", program=_in_order, reference=lambda x: (ref.top(x, _K)[0],) * 2, recipes=_LONG),
        *_limits(_exact),
        ordinary=ordinary.NAN_IN_OWN_RECIPES,
    ),
)
