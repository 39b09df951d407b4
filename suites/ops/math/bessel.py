"""Bessel functions.

TensorFlow computes them by series; the budgets are as measured by `bench.budgets`.
"""

from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.derived.lost import Lost
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import absolute, relative
from tf_opdiff.suites.forms.regions import infinite, minus_zero, tiny, zero
from tf_opdiff.suites.forms.unary import NO_BFLOAT16, ROUNDED_TWICE, unary
from tf_opdiff.suites.forms.unary_subnormals import EITHER
from tf_opdiff.suites.reference import bessel as ref
from tf_opdiff.suites.reference import curvature
from tf_opdiff.suites.reference.float64 import at, odd
from tf_opdiff.suites.reference.wide import INF, NAN, Wide, mp


def _oscillating(series_below=0.0):
    """Bounds of J and Y.

    Beyond 1, Cephes takes the sine and cosine of x - π/4, rounded: that is off by u x, in units of the amplitude.
    J of smaller arguments is a series, whose error is relative. Y has zeros and a logarithm there. In float16, values
    are computed in float32 and rounded; a gradient is the sum of two of these.
    """

    def within(terms):
        def error(u, x, y):
            amplitude = np.where(np.abs(x) < series_below, 0, np.minimum(1, np.abs(x) ** -0.5))
            phase = np.minimum(2, min(u, 2.0**-22) * (8 + 2 * np.abs(x)))
            return 10 * u * np.abs(y) + amplitude * (phase + (terms * u if u > 2.0**-24 else 0))

        return absolute(error)

    return {"output": within(0), "grad": within(6)}


@absolute
def _scaled_k0_slope(u, x, y):
    """The error of k0e(x) - k1e(x); in float16 each term is a rounded float32."""
    terms = np.where(x <= 2, 28, 12) if u < 2.0**-20 else 3
    return terms * u * (special.k0e(x) + np.abs(y))


def _out_of_phase(x):
    """Where x - π/4, rounded, has lost half of the digits of a float32."""
    return np.abs(x) > 500


#: Far out, x - π/4, rounded, has no digits left behind the point. The result is that of a number beside x.
_PHASE = tuple(Lost(where=_out_of_phase, quantity=quantity) for quantity in ("output", "grad"))
_ZEROS = {INF: 0.0, -INF: 0.0}
#: Budgets of K, and of its gradients, hold for 5 million inputs of a dtype. Up to 2, K is a sum that cancels near 1.5.
_K_POLE = {0.0: INF, INF: 0.0, -INF: NAN}
#: Of functions that are defined right of zero, and have a pole there.
_RIGHT_OF_ZERO = {
    "infinite": infinite,
    "negative": lambda x, top: (x < 0) & ~np.isinf(x),
    "zero": zero,
}
#: Where the derivative may underflow as well.
_FAR_OUT = {"infinite": lambda x, top: np.isinf(x) | (x > 1e30)}

#: Beside zeros that are no floats, SciPy's J and Y are off by 1/30 ULP of a float32; far out, they lose their phase.
_FLOAT64: dict[str, Any] = {"float64_error": 2.0**-28, "float64_limit": 2.0**16}

SPECS = (
    *unary(
        "bessel-i0",
        op="BesselI0",
        dtypes=NO_BFLOAT16,
        f=Wide(ref.i0, {INF: INF, -INF: INF}, float64=at(special.i0, {INF: INF, -INF: INF})),
        df=Wide(ref.i1, {INF: INF, -INF: -INF}, odd=True, float64=odd(at(special.i1, {INF: INF}))),
        domain=(-80, 80),
        # The derivative is BesselI1, a Chebyshev series.
        ulp={"output": (ROUNDED_TWICE, 5, 5), "grad": (1.5, 16, 11)},
        aside={"infinite": infinite, "minus_zero": minus_zero},
        xla_kernel=False,
        second_order=SecondOrder(jvp=20, hvp=12),
    ),
    *unary(
        "bessel-i0e",
        op="BesselI0e",
        dtypes=NO_BFLOAT16,
        f=Wide(ref.i0e, {INF: 0, -INF: 0}, float64=special.i0e),
        df=Wide(ref.i0e_slope, {INF: 0, -INF: 0}, float64=at(ref.i0e_slope_float64, {0: 0, INF: 0, -INF: 0})),
        domain=(-80, 80),
        ulp={"output": (ROUNDED_TWICE, 5.5, 6), "grad": 2},
        # The gradient is g (i1e(x) - sign(x) y).
        bound={"grad": relative(lambda x, f, d: np.where(np.abs(x) > 1e15, 4, 10 + 10 * f / d))},
        lost=(Lost(where=lambda x: np.abs(x) > 2, span=(1e3, 1e15)),),
        aside={"huge": lambda x, top: np.abs(x) > 1e15},
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i0e, {INF: 0, -INF: 0}), condition=(8, 12), lost=lambda x: np.abs(x) > 2
        ),
    ),
    *unary(
        "bessel-i1",
        op="BesselI1",
        dtypes=NO_BFLOAT16,
        f=Wide(ref.i1, {INF: INF, -INF: -INF}, odd=True, float64=odd(at(special.i1, {INF: INF}))),
        df=Wide(ref.i1_slope, {INF: INF, -INF: INF}, float64=ref.i1_slope_float64),
        domain=(-80, 80),
        ulp={"output": (ROUNDED_TWICE, 9, 15), "grad": 2},
        # The gradient is g (i0(x) - y / x).
        bound={"grad": relative(lambda x, f, d: 8 + 16 * f / d / np.abs(x))},
        aside={
            "infinite": infinite,
            "overflow": lambda x, top: (np.abs(x) > np.log(top) + 2) & ~np.isinf(x),
            "zero": zero,
        },
        subnormals=EITHER,
        xla_kernel=False,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i1, {INF: INF, -INF: -INF}),
            condition=(24, 12),
            steep=lambda x: special.ivp(1, x, 3),
            lost=lambda x: np.abs(x) < 1,
        ),
    ),
    *unary(
        "bessel-i1e",
        op="BesselI1e",
        dtypes=NO_BFLOAT16,
        f=Wide(ref.i1e, {INF: 0, -INF: -0.0}, odd=True, float64=odd(special.i1e)),
        df=Wide(ref.i1e_slope, {INF: 0, -INF: 0}, float64=at(ref.i1e_slope_float64, {INF: 0, -INF: 0})),
        domain=(-80, 80),
        ulp={"output": (ROUNDED_TWICE, 8, 6), "grad": 2},
        # The gradient is g (i0e(x) - y (sign(x) + 1 / x)).
        bound={
            "grad": relative(lambda x, f, d: np.where(np.abs(x) > 1e15, 4, 10 + 10 * (f + 2 * (f / np.abs(x))) / d))
        },
        lost=(Lost(where=lambda x: np.abs(x) > 0.75, span=(1e3, 1e15)),),
        aside={"huge": lambda x, top: np.abs(x) > 1e15, "minus_zero": minus_zero},
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i1e, {INF: 0, -INF: 0}),
            condition=(16, 16),
            lost=lambda x: (np.abs(x) < 0.5) | (np.abs(x) > 1),
        ),
    ),
    *unary(
        "bessel-j0",
        op="BesselJ0",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: mp.besselj(0, x), _ZEROS, float64=at(special.j0, {INF: 0, -INF: 0})),
        df=Wide(
            lambda x: -mp.besselj(1, x),
            {0: -0.0, **_ZEROS},
            odd=True,
            float64=at(lambda x: -odd(special.j1)(x), {INF: 0, -INF: 0}),
        ),
        domain=(-40, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(series_below=1.0),
        lost=_PHASE,
        aside={"infinite": infinite},
        xla_kernel=False,
        **_FLOAT64,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_j(0), {INF: 0, -INF: 0}),
            condition=(4, 8),
            steep=lambda x: special.jvp(0, x, 3),
            lost=_out_of_phase,
            loose=_out_of_phase,
        ),
    ),
    *unary(
        "bessel-j1",
        op="BesselJ1",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: mp.besselj(1, x), {INF: 0, -INF: -0.0}, odd=True, float64=odd(at(special.j1, {INF: 0}))),
        df=Wide(
            lambda x: mp.besselj(0, x) - mp.besselj(1, x) / x if x else mp.mpf(0.5),
            _ZEROS,
            float64=at(ref.j1_slope_float64, {INF: 0, -INF: 0}),
        ),
        domain=(-40, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(series_below=1.0),
        lost=_PHASE,
        aside={"infinite": infinite, "tiny": tiny},
        subnormals=EITHER,
        xla_kernel=False,
        **_FLOAT64,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_j(1), {INF: 0, -INF: 0}),
            condition=(4, 8),
            steep=lambda x: special.jvp(1, x, 3),
            lost=lambda x: (np.abs(x) < 1) | _out_of_phase(x),
            loose=_out_of_phase,
        ),
    ),
    *unary(
        "bessel-k0",
        op="BesselK0",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.k(0, x), _K_POLE, float64=special.k0),
        df=Wide(lambda x: -ref.k(1, x), {0: -INF, INF: -0.0, -INF: NAN}, float64=lambda x: -special.k1(x)),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 23, 18), "grad": (7, 14, 12)},
        aside=_RIGHT_OF_ZERO,
        xla_kernel=False,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k0, {0: INF, INF: 0, -INF: NAN}),
            condition=(4, 4),
            steep=lambda x: special.kvp(0, x, 3),
        ),
    ),
    *unary(
        "bessel-k0e",
        op="BesselK0e",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.scaled_k(0, x), _K_POLE, float64=special.k0e),
        df=Wide(
            ref.k0e_slope, {0: -INF, INF: -0.0, -INF: NAN}, float64=at(ref.k0e_slope_float64, {0: -INF, INF: -0.0})
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 23.5, 20), "grad": 2},
        # The gradient is g (y - k1e(x)).
        bound={"grad": _scaled_k0_slope},
        lost=(Lost(where=lambda x: np.abs(x) > 2, span=(1e3, 1e15)),),
        aside={**_RIGHT_OF_ZERO, **_FAR_OUT},
        xla_kernel=False,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k0e, {0: INF, INF: 0, -INF: NAN}),
            condition=(16, 24),
            lost=lambda x: np.abs(x) > 2,
        ),
    ),
    *unary(
        "bessel-k1",
        op="BesselK1",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.k(1, x), _K_POLE, float64=special.k1),
        df=Wide(
            lambda x: -ref.k(0, x) - ref.k(1, x) / x,
            {0: -INF, INF: -0.0, -INF: NAN},
            float64=at(lambda x: -special.k0(x) - special.k1(x) / x, {0: -INF}),
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 14, 13), "grad": (6, 12, 10.5)},
        aside={"tiny": lambda x, top: (x > 0) & tiny(x, top), **_RIGHT_OF_ZERO},
        xla_kernel=False,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k1, {0: INF, INF: 0, -INF: NAN}),
            condition=(4, 4),
            steep=lambda x: special.kvp(1, x, 3),
        ),
    ),
    *unary(
        "bessel-k1e",
        op="BesselK1e",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.scaled_k(1, x), _K_POLE, float64=special.k1e),
        df=Wide(
            ref.k1e_slope, {0: -INF, INF: -0.0, -INF: NAN}, float64=at(ref.k1e_slope_float64, {0: -INF, INF: -0.0})
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 9, 8), "grad": 2},
        # The gradient is g (y (1 - 1 / x) - k0e(x)).
        bound={"grad": relative(lambda x, f, d: 10 + 10 * f * (1 + 1 / x) / d)},
        lost=(Lost(where=lambda x: np.abs(x) > 2, span=(1e3, 1e15)),),
        aside={"tiny": lambda x, top: (x > 0) & tiny(x, top), **_RIGHT_OF_ZERO, **_FAR_OUT},
        xla_kernel=False,
        float64_error=2.0**-40,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k1e, {0: INF, INF: 0, -INF: NAN}),
            condition=(16, 24),
            lost=lambda x: np.abs(x) > 2,
        ),
    ),
    *unary(
        "bessel-y0",
        op="BesselY0",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.y(0, x), {0: -INF, INF: 0, -INF: NAN}, float64=at(special.y0, {INF: 0})),
        df=Wide(lambda x: -ref.y(1, x), {0: INF, INF: 0, -INF: NAN}, float64=at(lambda x: -special.y1(x), {INF: 0})),
        domain=(0, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(),
        lost=_PHASE,
        aside=_RIGHT_OF_ZERO,
        xla_kernel=False,
        **_FLOAT64,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_y(0), {0: -INF, INF: 0, -INF: NAN}),
            condition=(6, 8),
            steep=lambda x: special.yvp(0, x, 3),
            lost=_out_of_phase,
            loose=_out_of_phase,
        ),
    ),
    *unary(
        "bessel-y1",
        op="BesselY1",
        dtypes=NO_BFLOAT16,
        f=Wide(lambda x: ref.y(1, x), {0: -INF, INF: 0, -INF: NAN}, float64=at(special.y1, {INF: 0})),
        df=Wide(
            lambda x: ref.y(0, x) - ref.y(1, x) / x,
            {0: INF, INF: 0, -INF: NAN},
            float64=at(lambda x: special.y0(x) - special.y1(x) / x, {0: INF, INF: 0}),
        ),
        domain=(0, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(),
        lost=_PHASE,
        aside=_RIGHT_OF_ZERO,
        subnormals=EITHER,
        xla_kernel=False,
        **_FLOAT64,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_y(1), {0: -INF, INF: 0, -INF: NAN}),
            condition=(6, 8),
            steep=lambda x: special.yvp(1, x, 3),
            lost=_out_of_phase,
            loose=_out_of_phase,
        ),
    ),
)
