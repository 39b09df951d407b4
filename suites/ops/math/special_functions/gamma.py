"""The logarithm of the gamma function, and its derivative.

Budgets are measured with AVX-512, in all modes: over every float16 and bfloat16, and else by `bench.budgets`.
"""

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.forms.bounds import absolute
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.regions import infinite, zero
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE
from tf_opdiff.suites.reference.promises.float64 import at
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp
from tf_opdiff.suites.reference.special_functions import curvature
from tf_opdiff.suites.reference.special_functions import gamma as ref


def _between_integers(x, top):
    """Where the gradient of digamma, a sum of terms between x and 9, takes more than milliseconds."""
    return (x < -1e5) & (x != np.floor(x))


def _digamma_error(units, times):
    """The error of digamma: units u near its zeros and u times |y| near its poles, in float64; 22 and 8 elsewhere.

    Left of 0, zeros lie where terms of the size of log |x| cancel. Over every float32 the largest errors near zeros
    are 38.2 u at -95,360.9 in eager mode; under XLA, 20.5 u at 1.4163707, 21.5 u at -0.503834, and 40.1 u at -94,748.9.
    """

    def error(u, x, y):
        if u < 2.0**-30:
            return u * (units + times * np.abs(y))
        near_zeros = np.where(x < 0, 23 + 2 * np.log(np.clip(-x, 1, None)), 22)
        return u * (near_zeros + 8 * np.abs(y))

    return absolute(error)


_DIGAMMA = Wide(mp.digamma, {0: -INF, INF: INF, -INF: NAN}, odd=True, float64=special.psi)
_TRIGAMMA = Wide(ref.trigamma, {INF: 0, -INF: NAN}, float64=ref.trigamma_float64)

SPECS = (
    *op(
        "digamma",
        "Digamma",
        # In float64 there are numbers between integers down to -2**52. XLA, which answers at once, is in "far".
        part(
            "-far",
            reference=_DIGAMMA,
            vjp=lambda g, x: g * _TRIGAMMA(x),
            recipes={"hang": lambda draw, dtype: (np.round(draw.uniform(3, low=-1e15, high=-1e12)) + 0.5,)},
            dtypes=("float64",),
            modes=WITHOUT_XLA,
            ulp={"output": 2, "grad": 10.5},
            tier="full",
        ),
        of_xla={"bfloat16": 1},
        f=_DIGAMMA,
        df=_TRIGAMMA,
        domain=(-40, 20),
        ulp={"output": 1, "grad": by_mode(eager=(9, 11, 10), xla=(14, 16, 16))},
        float64_error=2.0**-34,  # near the zeros
        # Eigen's source says so, too: the error is absolute where the value is below 1.
        bound={"output": by_mode(eager=_digamma_error(20, 8.5), xla=_digamma_error(32, 8.5))},
        avoided=_between_integers,
        aside={
            "far": lambda x, top: (x < -1000) & ~np.isinf(x) & ~_between_integers(x, top),
            "huge": lambda x, top: (x > np.sqrt(top) / 8) & ~np.isinf(x),
            "infinite": infinite,
            "negative": lambda x, top: (x < 0) & (x >= -1000),
            "zero": zero,
        },
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.digamma, {INF: 0, -INF: NAN}), condition=(6, 6), lost=lambda x: x > 1e12
        ),
    ),
    *op(
        "lgamma",
        "Lgamma",
        of_xla={"bfloat16": 1},
        f=Wide(ref.lgamma, {0: INF, INF: INF, -INF: INF}, float64=at(special.gammaln, {-INF: INF})),
        df=Wide(mp.digamma, float64=at(special.psi, {0: np.nan})),
        domain=(0.01, 20),
        ulp={"output": by_mode(eager=(ROUNDED_TWICE, 7.3, 5.3), xla=(ROUNDED_TWICE, 8, 9.2)), "grad": 2},
        # The gradient is g digamma(x).
        bound={"grad": by_mode(eager=_digamma_error(20, 9), xla=_digamma_error(32, 9.5))},
        float64_error=2.0**-28,  # near the zeros
        aside={"middle": lambda x, top: np.abs(x) < 10},
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(curvature.lgamma, {INF: 0, -INF: NAN}), condition=(16, 8), lost=lambda x: x > 1e18
        ),
    ),
)
