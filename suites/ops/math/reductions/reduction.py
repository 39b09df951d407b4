"""Reductions of numbers. Errors count the roundings of any order: see `suites.reference.promises.accumulation`."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import second_order
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.reductions.reduction import ENDS, REDUCED, long, of_axes, of_complex, of_integers, reduced
from tf_opdiff.suites.forms.reductions.reduction_recipes import LONG, OF_INTEGERS, RECIPES, SHAPE, infinite, limits
from tf_opdiff.suites.reference.promises.accumulation import sum_error
from tf_opdiff.suites.reference.reductions import product
from tf_opdiff.suites.reference.reductions import reduction as ref

_LONG = {
    "ones": lambda draw, dtype: (np.ones(LONG, dtype),),
    "equal": lambda draw, dtype: (np.full(LONG, 0.1).astype(dtype),),
    "positive": lambda draw, dtype: (draw.uniform(*LONG, low=0, high=1).astype(dtype),),
}
#: Rows, columns and whole tensors with more elements than a block of a kernel.
_BLOCKS = {
    "row": call((3, 1100), axis=(1,), keep_dims=False),
    "column": call((4201, 3), axis=(0,), keep_dims=True),
    "all": call((5, 1, 1009), axis=(0, 1, 2), keep_dims=False),
}


def _near_one(draw, dtype):
    """Numbers whose products stay in range."""
    x = powers(2, draw.uniform(*SHAPE) / 2) * np.where(draw.booleans(*SHAPE), 1, -1)
    return (x.astype(dtype),)


def _powers(draw, dtype):
    """Powers of two, whose products are exact."""
    return (np.array([1.0, -1.0, 2.0, 0.5, -2.0, -0.5])[draw.integers(*SHAPE, low=0, high=6)].astype(dtype),)


def _zeros(draw, dtype):
    """Numbers near one, with one zero in a row, two in another, and a zero of the other sign."""
    (x,) = _near_one(draw, np.dtype(np.float64))
    x[0, 0, 3] = x[1, 2, 1] = x[1, 2, 4] = 0.0
    x[2, 4, 0] = -0.0
    return (x.astype(dtype),)


FACTORS = {
    "near_one": _near_one,
    "exact": _powers,
    "zeros": _zeros,
    "special": RECIPES["special"],
    "upstreams": _near_one,
}


def _limits_of_a_mean(draw, dtype):
    """Limits of integers up to 32 bits, and numbers whose sum stays within range of those of 64 bits."""
    (x,) = limits(draw, dtype)
    return (x if x.itemsize < 8 else x // 128,)


#: Complex numbers whose quotients and products have one right result: infinite parts are left to `Sum`.
COMPLEX_FACTORS = {label: recipe for label, recipe in FACTORS.items() if label not in ("special", "upstreams")}
FINITE = {label: recipe for label, recipe in RECIPES.items() if label not in ("special", "upstreams")}
_EXTREMES = {label: recipe for label, recipe in RECIPES.items() if label != "special"} | {"infinite": infinite}
_NORMS = {label: recipe for label, recipe in RECIPES.items() if label not in ("large", "tiny", "special")}


def _extreme(f):
    """The fields of a largest or smallest element; equal ones share the gradient."""
    jvp, error = ref.shares_jvp(f), lambda u, t, x, axis: 8 * u * np.abs(jvp(t, x, axis))
    return {
        **REDUCED,
        "parts": (
            second_order({"plain": _EXTREMES["plain"]}, ENDS),
            of_integers(reduced(f, flushes=False)),
            of_axes,
        ),
        "promise": reduced(f, vjp=ref.equal_shares(f), jvp=jvp, jvp_error=error),
        "recipes": _EXTREMES,
        "forward": {"special": RECIPES["special"]},
        "blocks": _BLOCKS,
        "ulp": {"grad": 2},
        "unsigned_zeros": ("output",),
    }


SPECS = (
    *op(
        "euclidean-norm",
        "EuclideanNorm",
        long("euclidean-norm", _LONG),
        second_order({"plain": _NORMS["plain"]}, ENDS),
        of_complex(_NORMS),
        of_integers(reduced(ref.integer_norm, flushes=False), {"plain": RECIPES["plain"]}),
        of_axes,
        promise=reduced(
            ref.norm,
            vjp=ref.norm_vjp,
            jvp=ref.norm_jvp,
            hvp=ref.norm_hvp,
            error=ref.norm_error,
            grad_error=ref.norm_vjp_error,
            jvp_error=ref.norm_jvp_error,
            hvp_error=ref.norm_hvp_error,
            flushes=False,
        ),
        modes=WITHOUT_XLA,
        **{**REDUCED, "recipes": _NORMS},
    ),
    *op("max", "Max", **_extreme(ref.largest), ordinary=ordinary.NAN_IN_OWN_RECIPES),
    *op(
        "mean",
        "Mean",
        long("mean", _LONG),
        second_order({"plain": RECIPES["plain"]}, ENDS),
        of_complex(FINITE),
        of_integers(
            reduced(ref.integer_mean, flushes=False, mistaken=partial(ref.integer_mean, wraps=True)),  # under XLA
            {**OF_INTEGERS, "limits": _limits_of_a_mean},
        ),
        of_axes,
        promise=reduced(
            ref.mean,
            vjp=ref.shared,
            jvp=lambda t, x, axis: ref.mean(t, axis),
            error=ref.mean_error,
            grad_error=ref.mean_vjp_error,
            jvp_error=ref.mean_jvp_error,
        ),
        ulp={"output": 1},  # a subnormal mean
        unsigned_zeros=("output",),
        **REDUCED,
    ),
    *op("min", "Min", **_extreme(ref.smallest), ordinary=ordinary.NAN_IN_OWN_RECIPES),
    *op(
        "prod",
        "Prod",
        second_order({label: FACTORS[label] for label in ("near_one", "zeros")}, ENDS, unsigned_zeros=("hvp",)),
        of_complex(COMPLEX_FACTORS),
        of_integers(reduced(product.product, flushes=False)),
        of_axes,
        promise=reduced(
            product.product,
            vjp=product.product_vjp,
            jvp=product.product_jvp,
            hvp=product.product_hvp,
            error=product.product_error,
            grad_error=product.product_vjp_error,
            jvp_error=product.product_jvp_error,
            hvp_error=product.product_hvp_error,
            flushes=False,
        ),
        ordinary=ordinary.FACTORS,
        **{**REDUCED, "recipes": FACTORS},
    ),
    *op(
        "sum",
        "Sum",
        long("sum", _LONG),
        second_order({"plain": RECIPES["plain"]}, ENDS),
        of_complex(RECIPES),
        of_integers(reduced(ref.total, flushes=False)),
        of_axes,
        promise=reduced(
            ref.total,
            vjp=ref.spread,
            jvp=lambda t, x, axis: ref.total(t, axis),
            error=sum_error,
            jvp_error=lambda u, t, x, axis: sum_error(u, t, axis),
        ),
        unsigned_zeros=("output",),
        **REDUCED,
    ),
)
