"""Functions that are integrals: Dawson's, the exponential integral, Fresnel's, Spence's.

Budgets are measured with AVX-512, in all modes: over every float16 and bfloat16, and else by `bench.budgets`.
"""

from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.inputs.recipes import SIZE
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import absolute, relative
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.regions import infinite, minus_zero
from tf_opdiff.suites.reference.promises.float64 import at
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp
from tf_opdiff.suites.reference.special_functions import curvature
from tf_opdiff.suites.reference.special_functions import integrals as ref


def _fresnel(u, x, y):
    """The error of Fresnel's integrals.

    Below 1.6 they are series. Above, TensorFlow takes the sine and cosine of π x² / 2 as rounded, which is off by u x²,
    and divides them by π x: the error is at most 2 / (π x). Above 36974 it answers 1/2, which is off by 1 / (π x).
    Over every float32 the largest errors are 9.3 u |y| at 1.5946926, and 324 u at 288.95505.
    """
    size = np.abs(x)
    reciprocal = 1 / np.maximum(size, 1)
    wave = np.where(size > 36974, reciprocal / 3, np.minimum(1.2 * u * size, 0.7 * reciprocal))
    return 10 * u * np.abs(y) + np.where(size < 1.6, 0, wave)


#: The sine or cosine of π x² / 2 as rounded: that is off by u x², to begin with.
_SQUARED = {
    "output": absolute(_fresnel),
    "grad": absolute(lambda u, x, y: np.minimum(2, u * (4 * np.abs(y) + 8 * x * x))),
}


def _far(x):
    """Where x², rounded, has lost many digits behind the point."""
    return np.abs(x) > 32


_PHASE = "x², rounded, has few digits behind the point, and the result is a sine or a cosine of it"
_FAR = (
    Lost(where=_far, span=(4096.0, 1e6), reason=_PHASE),
    Lost(
        where=lambda x: np.abs(x) > 36974,
        span=(4e4, 1e7),
        quantity="output",
        dtypes=("float64", "float32"),
        reason="the kernel takes 1/2 for the result, which is off by up to 1e-5: 270 ULPs of a float32",
    ),
)


def _beside_zeros(draw, dtype):
    """Numbers of both signs next to the zeros √n of the gradients, n odd or even, where it is below 1/1000."""
    root = np.sqrt(draw.integers(SIZE, low=1, high=17).astype(np.float64))
    x = root + np.where(draw.booleans(SIZE), 1, -1) * draw.uniform(SIZE, low=1e-4, high=2e-4) / root
    return ((x * np.where(draw.booleans(SIZE), 1, -1)).astype(dtype),)


def _curved(curve):
    """The second order of Fresnel's integrals, from the second derivative."""
    loose = Loose(_far, _PHASE)
    return ExactCurve(curve=Wide(curve, {INF: NAN, -INF: NAN}), condition=(4, 4), lost=_far, loose=loose)


_FRESNEL: dict[str, Any] = {
    "ulp": {"output": 1, "grad": 1},
    "bound": _SQUARED,
    "lost": _FAR,
    "recipes": {"beside_zeros": _beside_zeros},
    "aside": {"minus_zero": minus_zero, "overflow": lambda x, top: x * x > top},
    "subnormals": EITHER,
}

SPECS = (
    *op(
        "dawsn",
        "Dawsn",
        f=Wide(ref.dawsn, {INF: 0, -INF: -0.0}, odd=True, float64=special.dawsn),
        df=Wide(ref.dawsn_slope, {INF: -0.0, -INF: -0.0}, float64=ref.dawsn_slope_float64),
        # Over every float32, it is off by up to 7 ULP.
        ulp={"output": (7.5, 3), "grad": 2},
        bound={"grad": relative(lambda x, f, d: 10 + 10 / d)},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 3, span=(32.0, 1e8), reason="the gradient is g (1 - 2 x y), which cancels"
            ),
        ),
        aside={
            "huge": lambda x, top: (np.abs(x) >= 1e9) & ~np.isinf(x),
            "infinite": infinite,
            "minus_zero": minus_zero,
        },
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.dawsn, {0: 0, INF: 0, -INF: 0}), condition=(4, 6), lost=lambda x: np.abs(x) > 1
        ),
    ),
    *op(
        "expint",
        "Expint",
        f=Wide(
            lambda x: mp.ei(x) if x >= 0 else NAN, {0: -INF}, float64=lambda x: np.where(x < 0, np.nan, special.expi(x))
        ),
        df=Wide(lambda x: mp.exp(x) / x, {0: INF, -INF: -0.0}, odd=True, float64=lambda x: np.exp(x) / x),
        domain=(0, 20),
        # Over every float32, it is off by up to 11.6 ULP, near 16.5, and its gradient by up to 3.6.
        ulp={"output": (12.5, 7), "grad": (3.9, 3.2)},
        # Near the zero, 0.37, terms cancel that are as large as eˣ.
        bound={"output": absolute(lambda u, x, y: np.where(x < 1, 8 * u * np.exp(x), 0))},
        subnormals=EITHER,
        second_order=SecondOrder(condition=(4, 5)),
    ),
    *op(
        "fresnel-cos",
        "FresnelCos",
        **_FRESNEL,
        f=Wide(mp.fresnelc, odd=True, float64=ref.fresnel_float64(1)),
        df=Wide(lambda x: mp.cospi(x * x / 2), float64=ref.cos_square),
        second_order=_curved(curvature.fresnel_cos),
    ),
    *op(
        "fresnel-sin",
        "FresnelSin",
        **_FRESNEL,
        f=Wide(mp.fresnels, odd=True, float64=ref.fresnel_float64(0)),
        df=Wide(lambda x: mp.sinpi(x * x / 2), float64=ref.sin_square),
        second_order=_curved(curvature.fresnel_sin),
    ),
    *op(
        "spence",
        "Spence",
        f=Wide(lambda x: mp.polylog(2, 1 - x) if x >= 0 else NAN, float64=at(special.spence, {INF: -INF})),
        df=Wide(lambda x: mp.log(x) / (1 - x) if x > 0 else NAN, {0: -INF, 1: -1}, float64=ref.spence_slope_float64),
        domain=(0, 4),
        # The kernel is a series. Over every float32, it is off by up to 19.4 ULP, and its gradient by up to 4.4.
        ulp={"output": (20.8, 18), "grad": (4.5, 2.5)},
        aside={"huge": lambda x, top: x > top / 4},
        second_order=ExactCurve(
            curve=Wide(curvature.spence, {0: INF, INF: 0, -INF: NAN}),
            condition=(5, 19),
            lost=lambda x: np.abs(x - 1) < 0.3,
        ),
    ),
)
