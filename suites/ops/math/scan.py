"""Cumulative sums, products and logarithms of sums. Errors count roundings: see `suites.reference.scan`."""

import ml_dtypes
import numpy as np

from tf_opdiff.suites.forms.reduction_recipes import LONG, OF_INTEGERS, RECIPES, SHAPE, tiny
from tf_opdiff.suites.forms.scan import long_ones, one_tiny, scan
from tf_opdiff.suites.forms.special_upstreams import KINDS, every_kind, in_turn
from tf_opdiff.suites.forms.views import Viewed
from tf_opdiff.suites.ops.math.reduction import COMPLEX_FACTORS, FACTORS, FINITE
from tf_opdiff.suites.reference import scan as ref
from tf_opdiff.suites.reference.subnormal import flushed_in


def _calling(op):
    return lambda tf, x, axis, exclusive, reverse: getattr(tf.raw_ops, op)(
        x=x, axis=axis, exclusive=exclusive, reverse=reverse
    )


def _flushed(f):
    """The results, or the terms, flushed."""
    return lambda dtype, x, **view: [flushed_in(dtype, f(x, **view)), f(flushed_in(dtype, x), **view)]


def _flushed_gradients(dtype, g, x, **view):
    y = ref.total_vjp(g, x, **view)
    return [flushed_in(dtype, y), ref.total_vjp(flushed_in(dtype, g), x, **view)]


def _lowest(dtype, x, **view):
    """The documentation has the lowest number in place of -infinity, the logarithm of no sum."""
    y = ref.log_sum(x, **view)
    return [np.where(np.isneginf(y), float(ml_dtypes.finfo(dtype).min), y), flushed_in(dtype, y)]


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


SPECS = (
    *scan(
        "cumprod",
        op="Cumprod",
        promise=Viewed(
            call=_calling("Cumprod"),
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
        recipes={label: recipe for label, recipe in FACTORS.items() if label != "special"},
        second="near_one",
        upstreams={"upstreams": every_kind},
        forward={"special": RECIPES["special"], "tiny": one_tiny},
        complex_recipes=COMPLEX_FACTORS,
        of_integers=OF_INTEGERS,
        long={"ones": _powers_between_ones},
        # The zeros are the derivative by no result, divided by a number; 0.5: a subnormal product.
        fields={"unsigned_zeros": ("grad", "jvp", "hvp"), "ulp": {"output": 0.5}},
    ),
    *scan(
        "cumsum",
        op="Cumsum",
        promise=Viewed(
            call=_calling("Cumsum"),
            f=ref.total,
            vjp=ref.total_vjp,
            jvp=lambda t, x, **view: ref.total(t, **view),
            hvp=lambda g, t, x, **view: None,
            error=ref.total_error,
            grad_error=lambda u, g, x, axis, exclusive, reverse: ref.total_error(
                u, g, axis, exclusive=exclusive, reverse=not reverse
            ),
            jvp_error=lambda u, t, x, **view: ref.total_error(u, t, **view),
            alternatives=_flushed(ref.total),
            grad_alternatives=_flushed_gradients,
        ),
        recipes={**RECIPES, "tiny_upstreams": RECIPES["plain"]},
        second="plain",
        upstreams={"upstreams": every_kind, "tiny_upstreams": in_turn(KINDS["upstream_tiny"])},
        forward={},
        complex_recipes=FINITE,
        of_integers=OF_INTEGERS,
        long={"ones": long_ones, "positive": _long_positive(*LONG)},
        fields={"unsigned_zeros": ("output", "grad", "jvp")},
    ),
    *scan(
        "cumulative-logsumexp",
        op="CumulativeLogsumexp",
        promise=Viewed(
            call=_calling("CumulativeLogsumexp"),
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
        second="above_one",
        upstreams={"upstreams": every_kind},
        forward={"far": _far, "infinite": _infinite, "huge": _huge, "tiny": tiny},
        long={
            "zeros": lambda draw, dtype: (np.zeros(_LONG_LOGARITHMS, dtype),),
            "positive": _long_positive(*_LONG_LOGARITHMS),
        },
        fields={"unsigned_zeros": ("output", "grad", "jvp", "hvp")},
    ),
)
