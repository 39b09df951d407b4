"""Cumulative sums, products and logarithms of sums. Errors count roundings: see `suites.reference.reductions.scan`."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import fed, in_shapes, second_order, small
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.special_upstreams import KINDS, every_kind, in_turn
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import from_one
from tf_opdiff.suites.forms.reductions.reduction_recipes import LONG, OF_INTEGERS, RECIPES, SHAPE, plain, tiny
from tf_opdiff.suites.ops.math.reductions.reduction import COMPLEX_FACTORS, FACTORS, FINITE
from tf_opdiff.suites.reference.promises.promise import OfOneTensor
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes
from tf_opdiff.suites.reference.reductions import scan as ref

_FACTORS = {label: recipe for label, recipe in FACTORS.items() if label != "special"}


def _flushed(f):
    """The results, or the terms, flushed."""
    return lambda dtype, x, **view: wholes(flushed_in(dtype, f(x, **view)), f(flushed_in(dtype, x), **view))


def _flushed_gradients(dtype, g, x, **view):
    y = ref.total_vjp(g, x, **view)
    return wholes(flushed_in(dtype, y), ref.total_vjp(flushed_in(dtype, g), x, **view))


def _lowest(dtype, x, **view):
    """The documentation has the lowest number in place of -infinity, the logarithm of no sum."""
    y = ref.log_sum(x, **view)
    return [np.where(np.isneginf(y), float(ml_dtypes.finfo(dtype).min), y), *wholes(flushed_in(dtype, y))]


def _above_one(draw, dtype):
    """Numbers from 1 to 4, whose cumulative logarithms do not come near 0, where all digits cancel."""
    return (draw.uniform(*SHAPE, low=1, high=4).astype(dtype),)


def _far(draw, dtype):
    """Numbers so far from each other that all but the largest vanish."""
    return ((64 + 32.0 * draw.integers(*SHAPE, low=0, high=4)).astype(dtype),)


def _infinite(draw, dtype):
    """Rows with -infinity, with +infinity and with NaN."""
    (x,) = _above_one(draw, np.dtype(np.float64))
    x[0, :2, 3] = -np.inf
    x[1, 2] = -np.inf
    x[2, 1, 4] = np.inf
    x[2, 3, 2] = np.nan
    return (x.astype(dtype),)


def _huge(draw, dtype):
    """The largest and the lowest numbers, whose differences overflow, and one."""
    top = float(ml_dtypes.finfo(dtype).max)
    return (np.array([top, -top, 1.0, -top])[draw.integers(*SHAPE, low=0, high=4)].astype(dtype),)


def _powers_between_ones(draw, dtype):
    """Long rows of ones with a few powers of two, and their reciprocals, whose products are exact."""
    x = np.ones(LONG)
    x[:, 100::400], x[:, 300::400] = 2.0, -0.5
    return (x.astype(dtype),)


def _long_positive(*shape):
    return lambda draw, dtype: (draw.uniform(*shape, low=0, high=1).astype(dtype),)


#: The size of long scans of logarithms, whose error grows with the number of elements and with the result.
_LONG_LOGARITHMS = (3, 2003)


def _long_ones(draw, dtype):
    """Ones, whose sums are the numbers from 1 on."""
    return (np.ones(LONG, dtype),)


def _one_tiny(draw, dtype):
    """The smallest subnormals of both signs, one in each row, between ones."""
    x = np.ones(SHAPE)
    smallest = float(np.nextafter(np.array(0, dtype), np.array(1, dtype), dtype=dtype))
    x[:, 2, :] = 3 * smallest
    x[1, 2, 3] = -smallest
    return (x.astype(dtype),)


_END = call(axis=-1, exclusive=False, reverse=True)
#: Each axis, from either end, and each combination of the attributes.
_CALLS = {
    "first": call(axis=0, exclusive=False, reverse=False),
    "exclusive": call(axis=-1, exclusive=True, reverse=False),
    "reverse": call(axis=-2, exclusive=False, reverse=True),
    "both": call(axis=2, exclusive=True, reverse=True),
}
#: The calls of second order, whose errors grow with the number of elements.
_FEW = {"first": _CALLS["first"], "both": call(axis=-3, exclusive=True, reverse=True)}
_ROWS = {"middle": call(axis=1, exclusive=True, reverse=False), "last": _END}
_LONG = {"rows": call(axis=1, exclusive=False, reverse=False)}
_OF_LONG = ("float32", "float16", "bfloat16")
_CANCELS = {
    "hvp": Loose(reason="a second derivative is a sum of terms of both signs, which may cancel", roundings=2048)
}
#: Axes that no tensor of rank 3 has, and a list of axes.
_WRONG_AXES = {
    "past_last": {"axis": 3},
    "before_first": {"axis": -4},
    "beyond": {"axis": 2**31 - 1},
    "beyond_int32": {"axis": 2**32 + 1, "index": "int64"},
    "vector": {"axis": [0]},
}


def _wrong_axes(raw):
    return part(
        "-wrong-axes",
        program=lambda tf, x, axis, index="int32": getattr(tf.raw_ops, raw)(x=x, axis=tf.constant(axis, index)),
        recipes={"plain": plain},
        attrs=_WRONG_AXES,
        lowest_tier=True,
        **IN_KERNEL,
    )


#: What is asked of every op: small inputs, and an axis that is an input.
_SHARED = (
    small(in_shapes(EMPTY, from_one), {"first": _CALLS["first"], "last": _END}),
    fed(
        "-fed-axis",
        plain,
        {"axis": {"int32": np.array(0, "int32"), "int64": np.array(-1, "int64"), "middle": np.array(1, "int64")}},
        literal=int,
        attrs={"exclusive": False, "reverse": True},
    ),
)
_OF_ALL: dict[str, Any] = {
    "calls": _CALLS,
    "batch": _ROWS,
    "arguments": ("x",),
    "dtypes": tiered(FLOATS),
    "integers": tiered(INTEGERS),
}

SPECS = (
    *op(
        "cumprod",
        "Cumprod",
        second_order({label: FACTORS[label] for label in ("near_one", "zeros")}, _FEW, loose=_CANCELS),
        part("-complex", recipes=COMPLEX_FACTORS, dtypes=COMPLEX, tier="full", unsigned_zeros=("output", "grad")),
        part("-long", calls=_LONG, recipes={"ones": _powers_between_ones}, gradient=False, dtypes=_OF_LONG),
        *_SHARED,
        _wrong_axes("Cumprod"),
        promise=OfOneTensor(
            f=ref.product,
            vjp=ref.product_vjp,
            jvp=ref.product_jvp,
            hvp=ref.product_hvp,
            error=ref.product_error,
            grad_error=ref.product_vjp_error,
            jvp_error=ref.product_jvp_error,
            hvp_error=ref.product_hvp_error,
            alternatives=_flushed(ref.product),
        ),
        recipes=_FACTORS,
        forward={"special": RECIPES["special"], "tiny": _one_tiny},
        of_integers=OF_INTEGERS,
        **_OF_ALL,
        # The zeros are the derivative by no result, divided by a number; 0.5: a subnormal product.
        unsigned_zeros=("grad", "jvp", "hvp"),
        ulp={"output": 0.5},
        ordinary=ordinary.OWN_GRADIENT,
    ),
    *op(
        "cumsum",
        "Cumsum",
        second_order({"plain": plain}, _FEW, loose=_CANCELS),
        part("-complex", recipes=FINITE, dtypes=COMPLEX, tier="full", unsigned_zeros=("output", "grad")),
        part(
            "-long",
            calls=_LONG,
            recipes={"ones": _long_ones, "positive": _long_positive(*LONG)},
            gradient=False,
            dtypes=_OF_LONG,
        ),
        *_SHARED,
        _wrong_axes("Cumsum"),
        promise=OfOneTensor(
            f=ref.total,
            vjp=ref.total_vjp,
            jvp=lambda t, x, **attrs: ref.total(t, **attrs),
            hvp=lambda g, t, x, **attrs: None,
            error=ref.total_error,
            grad_error=lambda u, g, x, axis, exclusive, reverse: ref.total_error(
                u, g, axis, exclusive=exclusive, reverse=not reverse
            ),
            jvp_error=lambda u, t, x, **attrs: ref.total_error(u, t, **attrs),
            alternatives=_flushed(ref.total),
            grad_alternatives=_flushed_gradients,
        ),
        recipes={**RECIPES, "tiny_upstreams": plain},
        upstreams={"upstreams": every_kind, "tiny_upstreams": in_turn(KINDS["upstream_tiny"])},
        of_integers=OF_INTEGERS,
        **_OF_ALL,
        unsigned_zeros=("output", "grad", "jvp"),
    ),
    *op(
        "cumulative-logsumexp",
        "CumulativeLogsumexp",
        second_order({"above_one": _above_one}, _FEW, loose=_CANCELS),
        part(
            "-long",
            calls=_LONG,
            recipes={
                "zeros": lambda draw, dtype: (np.zeros(_LONG_LOGARITHMS, dtype),),
                "positive": _long_positive(*_LONG_LOGARITHMS),
            },
            gradient=False,
            dtypes=_OF_LONG,
        ),
        *_SHARED,
        _wrong_axes("CumulativeLogsumexp"),
        promise=OfOneTensor(
            f=ref.log_sum,
            vjp=ref.log_sum_vjp,
            jvp=ref.log_sum_jvp,
            hvp=ref.log_sum_hvp,
            error=ref.log_sum_error,
            grad_error=ref.log_sum_vjp_error,
            jvp_error=ref.log_sum_jvp_error,
            hvp_error=ref.log_sum_hvp_error,
            alternatives=_lowest,
        ),
        recipes={"above_one": _above_one, "upstreams": _above_one},
        forward={"far": _far, "infinite": _infinite, "huge": _huge, "tiny": tiny},
        **_OF_ALL,
        unsigned_zeros=("output", "grad", "jvp", "hvp"),
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
)
