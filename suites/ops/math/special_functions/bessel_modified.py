"""Modified Bessel functions, I and K, and those times an exponential.

TensorFlow computes them by series; the budgets are as measured by `bench.budgets`.
"""

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import absolute, relative
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.regions import infinite, minus_zero, tiny, zero
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE
from tf_opdiff.suites.reference.promises.float64 import at, odd
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide
from tf_opdiff.suites.reference.special_functions import bessel as ref
from tf_opdiff.suites.reference.special_functions import curvature


@absolute
def _scaled_k0_slope(u, x, y):
    """The error of k0e(x) - k1e(x); in float16 each term is a rounded float32."""
    terms = np.where(x <= 2, 28, 12) if u < 2.0**-20 else 3
    return terms * u * (special.k0e(x) + np.abs(y))


def _scaled_i1(x):
    """The terms of the derivative of i1e in addition to i0e(x)."""
    size = np.abs(special.i1e(x))
    return size + 2 * (size / np.abs(x))


def _scaled_slope(terms, units, beside_eight):
    """The error of a derivative y that cancels from terms(x): units u of both.

    In narrower dtypes than float64 it is 10 u, and more from 4 to 8, where the first of two series ends.
    """

    def error(u, x, y):
        of_both = np.where(y == 0, 0, np.abs(y) + terms(x))
        narrow = np.where((np.abs(x) > 4) & (np.abs(x) < 8), beside_eight, 10)
        return u * np.where(np.abs(x) > 1e15, 4 * np.abs(y), (units if u < 2.0**-30 else narrow) * of_both)

    return absolute(error)


_K_POLE = {0.0: INF, INF: 0.0, -INF: NAN}
#: Inputs outside of the domain of functions that are defined right of zero, and have a pole there.
_RIGHT_OF_ZERO = {"infinite": infinite, "negative": lambda x, top: (x < 0) & ~np.isinf(x), "zero": zero}
#: Where the derivative may underflow as well.
_FAR_OUT = {"infinite": lambda x, top: np.isinf(x) | (x > 1e30)}

SPECS = (
    *op(
        "bessel-i0",
        "BesselI0",
        f=Wide(ref.i0, {INF: INF, -INF: INF}, float64=at(special.i0, {INF: INF, -INF: INF})),
        df=Wide(ref.i1, {INF: INF, -INF: -INF}, odd=True, float64=odd(at(special.i1, {INF: INF}))),
        domain=(-80, 80),
        # The derivative is BesselI1, a Chebyshev series. Over every float32, they are off by up to 7.9 and 23.7 ULP.
        ulp={"output": (ROUNDED_TWICE, 8.4, 6.2), "grad": (1.5, 25.2, 11)},
        aside={"infinite": infinite, "minus_zero": minus_zero},
        second_order=SecondOrder(jvp=20, hvp=12),
    ),
    *op(
        "bessel-i0e",
        "BesselI0e",
        of_xla={"bfloat16": ROUNDED_TWICE},
        f=Wide(ref.i0e, {INF: 0, -INF: 0}, float64=special.i0e),
        df=Wide(ref.i0e_slope, {INF: 0, -INF: 0}, float64=at(ref.i0e_slope_float64, {0: 0, INF: 0, -INF: 0})),
        domain=(-80, 80),
        # Over every float32, the kernel is off by up to 8.23 ULP, and XLA by up to 6.64.
        ulp={"output": (ROUNDED_TWICE, by_mode(eager=8.9, xla=7.2), by_mode(eager=8.9, xla=6.9)), "grad": 2},
        bound={"grad": by_mode(eager=_scaled_slope(special.i0e, 19, 24), xla=_scaled_slope(special.i0e, 13, 19))},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 2,
                span=(1e3, 1e15),
                reason="the gradient is g (i1e(x) - sign(x) y), which cancels",
            ),
        ),
        aside={"huge": lambda x, top: np.abs(x) > 1e15},
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i0e, {INF: 0, -INF: 0}), condition=(13, 25), lost=lambda x: np.abs(x) > 2
        ),
    ),
    *op(
        "bessel-i1",
        "BesselI1",
        f=Wide(ref.i1, {INF: INF, -INF: -INF}, odd=True, float64=odd(at(special.i1, {INF: INF}))),
        df=Wide(ref.i1_slope, {INF: INF, -INF: INF}, float64=ref.i1_slope_float64),
        domain=(-80, 80),
        # Over every float32, it is off by up to 22.1 ULP.
        ulp={"output": (ROUNDED_TWICE, 23.5, 15), "grad": 2},
        # The gradient is g (i0(x) - y / x).
        bound={"grad": relative(lambda x, f, d: 8.5 + 17 * f / d / np.abs(x))},
        aside={
            "infinite": infinite,
            "overflow": lambda x, top: (np.abs(x) > np.log(top) + 2) & ~np.isinf(x),
            "zero": zero,
        },
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i1, {INF: INF, -INF: -INF}),
            condition=(21, 15),
            steep=lambda x: special.ivp(1, x, 3),
            lost=lambda x: np.abs(x) < 1,
        ),
    ),
    *op(
        "bessel-i1e",
        "BesselI1e",
        of_xla={"bfloat16": ROUNDED_TWICE},
        f=Wide(ref.i1e, {INF: 0, -INF: -0.0}, odd=True, float64=odd(special.i1e)),
        df=Wide(ref.i1e_slope, {INF: 0, -INF: 0}, float64=at(ref.i1e_slope_float64, {INF: 0, -INF: 0})),
        domain=(-80, 80),
        # Over every float32, the kernel is off by up to 13.6 ULP, and XLA by up to 10.7, but for flushed results.
        ulp={"output": (ROUNDED_TWICE, by_mode(eager=14.5, xla=11.5), by_mode(eager=10.4, xla=7.7)), "grad": 2},
        bound={"grad": by_mode(eager=_scaled_slope(_scaled_i1, 17.5, 24), xla=_scaled_slope(_scaled_i1, 13.5, 19))},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 0.75,
                span=(1e3, 1e15),
                reason="the gradient is g (i0e(x) - y (sign(x) + 1 / x)), which cancels",
            ),
        ),
        aside={"huge": lambda x, top: np.abs(x) > 1e15, "minus_zero": minus_zero},
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_i1e, {INF: 0, -INF: 0}),
            condition=(25, 39),
            lost=lambda x: (np.abs(x) < 0.5) | (np.abs(x) > 1),
        ),
    ),
    # Budgets of K and its gradients hold for every float32, and for 5 million inputs of float64. Over every float32,
    # values are off by up to 22.7 (k0), 25.5 (k0e), 14.2 (k1) and 9.4 ULP (k1e). Up to 2, K is a sum that cancels near
    # 1.5.
    *op(
        "bessel-k0",
        "BesselK0",
        f=Wide(lambda x: ref.k(0, x), _K_POLE, float64=special.k0),
        df=Wide(lambda x: -ref.k(1, x), {0: -INF, INF: -0.0, -INF: NAN}, float64=lambda x: -special.k1(x)),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 23, 18), "grad": (4, 14, 12)},
        aside=_RIGHT_OF_ZERO,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k0, {0: INF, INF: 0, -INF: NAN}),
            condition=(6, 6),
            steep=lambda x: special.kvp(0, x, 3),
        ),
    ),
    *op(
        "bessel-k0e",
        "BesselK0e",
        f=Wide(lambda x: ref.scaled_k(0, x), _K_POLE, float64=special.k0e),
        df=Wide(
            ref.k0e_slope, {0: -INF, INF: -0.0, -INF: NAN}, float64=at(ref.k0e_slope_float64, {0: -INF, INF: -0.0})
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 27, 20), "grad": 2},
        bound={"grad": _scaled_k0_slope},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 2, span=(1e3, 1e15), reason="the gradient is g (y - k1e(x)), which cancels"
            ),
        ),
        aside={**_RIGHT_OF_ZERO, **_FAR_OUT},
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k0e, {0: INF, INF: 0, -INF: NAN}),
            condition=(49, 75),
            lost=lambda x: np.abs(x) > 2,
        ),
    ),
    *op(
        "bessel-k1",
        "BesselK1",
        f=Wide(lambda x: ref.k(1, x), _K_POLE, float64=special.k1),
        df=Wide(
            lambda x: -ref.k(0, x) - ref.k(1, x) / x,
            {0: -INF, INF: -0.0, -INF: NAN},
            float64=at(lambda x: -special.k0(x) - special.k1(x) / x, {0: -INF}),
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 15.2, 13), "grad": (6, 12, 10.5)},
        aside={"tiny": lambda x, top: (x > 0) & tiny(x, top), **_RIGHT_OF_ZERO},
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k1, {0: INF, INF: 0, -INF: NAN}),
            condition=(6, 6),
            steep=lambda x: special.kvp(1, x, 3),
        ),
    ),
    *op(
        "bessel-k1e",
        "BesselK1e",
        f=Wide(lambda x: ref.scaled_k(1, x), _K_POLE, float64=special.k1e),
        df=Wide(
            ref.k1e_slope, {0: -INF, INF: -0.0, -INF: NAN}, float64=at(ref.k1e_slope_float64, {0: -INF, INF: -0.0})
        ),
        domain=(0, 80),
        ulp={"output": (ROUNDED_TWICE, 10, 8), "grad": 2},
        bound={"grad": relative(lambda x, f, d: 11 + 11 * f * (1 + 1 / x) / d)},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 2,
                span=(1e3, 1e15),
                reason="the gradient is g (y (1 - 1 / x) - k0e(x)), which cancels",
            ),
        ),
        aside={"tiny": lambda x, top: (x > 0) & tiny(x, top), **_RIGHT_OF_ZERO, **_FAR_OUT},
        float64_error=2.0**-40,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_k1e, {0: INF, INF: 0, -INF: NAN}),
            condition=(20, 26),
            lost=lambda x: np.abs(x) > 2,
        ),
    ),
)
