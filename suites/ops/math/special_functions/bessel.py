"""Bessel functions of the first and second kind, J and Y.

TensorFlow computes them by series; the budgets are as measured by `bench.budgets`.
"""

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.forms.bounds import absolute
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.regions import infinite, tiny, zero
from tf_opdiff.suites.reference.promises.float64 import at, even, odd
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp
from tf_opdiff.suites.reference.special_functions import bessel as ref
from tf_opdiff.suites.reference.special_functions import bessel_float64 as float64
from tf_opdiff.suites.reference.special_functions import curvature


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


def _out_of_phase(x):
    """Where x - π/4, rounded, has lost half of the digits of a float32."""
    return np.abs(x) > 500


_OUT_OF_PHASE = Loose(_out_of_phase, "x - π/4, rounded, has few digits behind the point: the result is that beside x")
_PHASE = tuple(
    Lost(where=_out_of_phase, quantity=quantity, reason=_OUT_OF_PHASE.reason) for quantity in ("output", "grad")
)
_ZEROS = {INF: 0.0, -INF: 0.0}
#: Inputs outside of the domain of functions that are defined right of zero, and have a pole there.
_RIGHT_OF_ZERO = {"infinite": infinite, "negative": lambda x, top: (x < 0) & ~np.isinf(x), "zero": zero}
#: The relative error of the float64 functions; it is that large next to zeros only.
_FLOAT64_ERROR = 2.0**-31

SPECS = (
    *op(
        "bessel-j0",
        "BesselJ0",
        f=Wide(lambda x: mp.besselj(0, x), _ZEROS, float64=at(even(float64.J0), {INF: 0, -INF: 0})),
        df=Wide(
            lambda x: -mp.besselj(1, x),
            {0: -0.0, **_ZEROS},
            odd=True,
            float64=at(lambda x: -odd(float64.J1)(x), {INF: 0, -INF: 0}),
        ),
        domain=(-40, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(series_below=1.0),
        lost=_PHASE,
        aside={"infinite": infinite, "tiny": tiny},
        float64_error=_FLOAT64_ERROR,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_j(0), {INF: 0, -INF: 0}),
            condition=(6, 10),
            steep=lambda x: special.jvp(0, x, 3),
            lost=_out_of_phase,
            loose=_OUT_OF_PHASE,
        ),
    ),
    *op(
        "bessel-j1",
        "BesselJ1",
        f=Wide(lambda x: mp.besselj(1, x), {INF: 0, -INF: -0.0}, odd=True, float64=odd(at(float64.J1, {INF: 0}))),
        df=Wide(
            lambda x: mp.besselj(0, x) - mp.besselj(1, x) / x if x else mp.mpf(0.5),
            _ZEROS,
            float64=at(even(float64.J1_SLOPE), {INF: 0, -INF: 0}),
        ),
        domain=(-40, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(series_below=1.0),
        lost=_PHASE,
        aside={"infinite": infinite, "tiny": tiny},
        subnormals=EITHER,
        float64_error=_FLOAT64_ERROR,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_j(1), {INF: 0, -INF: 0}),
            condition=(6, 8),
            steep=lambda x: special.jvp(1, x, 3),
            lost=lambda x: (np.abs(x) < 1) | _out_of_phase(x),
            loose=_OUT_OF_PHASE,
        ),
    ),
    *op(
        "bessel-y0",
        "BesselY0",
        f=Wide(lambda x: ref.y(0, x), {0: -INF, INF: 0, -INF: NAN}, float64=at(float64.Y0, {INF: 0})),
        df=Wide(lambda x: -ref.y(1, x), {0: INF, INF: 0, -INF: NAN}, float64=at(lambda x: -float64.Y1(x), {INF: 0})),
        domain=(0, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(),
        lost=_PHASE,
        aside=_RIGHT_OF_ZERO,
        float64_error=_FLOAT64_ERROR,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_y(0), {0: -INF, INF: 0, -INF: NAN}),
            condition=(6, 7),
            steep=lambda x: special.yvp(0, x, 3),
            lost=_out_of_phase,
            loose=_OUT_OF_PHASE,
        ),
    ),
    *op(
        "bessel-y1",
        "BesselY1",
        f=Wide(lambda x: ref.y(1, x), {0: -INF, INF: 0, -INF: NAN}, float64=at(float64.Y1, {INF: 0})),
        df=Wide(
            lambda x: ref.y(0, x) - ref.y(1, x) / x,
            {0: INF, INF: 0, -INF: NAN},
            float64=at(float64.Y1_SLOPE, {0: INF, INF: 0}),
        ),
        domain=(0, 40),
        ulp={"output": 1, "grad": 1},
        bound=_oscillating(),
        lost=_PHASE,
        aside=_RIGHT_OF_ZERO,
        subnormals=EITHER,
        float64_error=_FLOAT64_ERROR,
        second_order=ExactCurve(
            curve=Wide(curvature.bessel_y(1), {0: -INF, INF: 0, -INF: NAN}),
            condition=(6, 10),
            steep=lambda x: special.yvp(1, x, 3),
            lost=_out_of_phase,
            loose=_OUT_OF_PHASE,
        ),
    ),
)
