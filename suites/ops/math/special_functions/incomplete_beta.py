"""The incomplete beta function, in float32 and float64.

Errors measured in both dtypes, eager and compiled, are up to 0.9 of the bounds.
"""

from dataclasses import replace

import numpy as np
from scipy.special import digamma, gammaln, xlog1py, xlogy

from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.binary import product_of, products
from tf_opdiff.suites.forms.elementwise.special import (
    INSIDE,
    gradient,
    hard,
    hard_recipes,
    of_exponents,
    relative,
    shapes_differ,
)
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import normal, within
from tf_opdiff.suites.forms.unary import WIDE
from tf_opdiff.suites.reference.promises.function import Function, evaluated
from tf_opdiff.suites.reference.promises.wide import mp
from tf_opdiff.suites.reference.special_functions import incomplete_beta as ref


def _beta_terms(a, b, x):
    """The sizes of the logarithms whose sum is log(x^a (1 - x)^b / B(a, b))."""
    logs = np.abs(a * np.log(x)) + np.abs(b * np.log1p(-x))
    return logs + np.abs(gammaln(a)) + np.abs(gammaln(b)) + np.abs(gammaln(a + b))


_density = evaluated(ref.beta_density)
_BETAINC = Function(
    f=evaluated(ref.betainc),
    partials=(None, None, _density),
    exact=ref.betainc,
    domain=((0.2, 8.0), (0.2, 8.0), (0.0, 1.0)),
)


def _slope(a, b, x):
    """dI/dx, or its formula outside of the domain."""
    inside = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    return np.where(inside, _density(a, b, x), ref.beta_density_beyond(a, b, x))


#: With the formula of its derivative outside of the domain, where the function is NaN.
_BETAINC_BEYOND = replace(_BETAINC, partials=(None, None, _slope))


def _hard_beta_bound(u, g, a, b, x):
    value = _BETAINC(a, b, x)
    smaller = np.fmin(value, 1 - value)
    return u * (40 * np.abs(value) + np.where(smaller > 0, 4 * _finite_beta_terms(a, b, x) * smaller, 0))


def _hard_beta_slope(u, g, a, b, x):
    size, least = np.abs(_slope(a, b, x)), np.where((x >= 0) & (x <= 1), 8, 64)
    return np.abs(g) * np.where((size > 0) & np.isfinite(size), size * (least + 3 * _slope_terms(a, b, x)), 0) * u


def _slope_terms(a, b, x):
    """The sizes of the logarithms whose sum is that of the density; infinite ones count 0."""
    logs = xlogy(a - 1, x), xlog1py(b - 1, -x), gammaln(a), gammaln(b), gammaln(a + b)
    return sum(np.where(np.isfinite(log), np.abs(log), 0) for log in logs)


_LARGE_LOGARITHMS = Loose(
    lambda a, b, x: _slope_terms(a, b, x) > 400,
    "the logarithms are so large that rounding them moves their exponential by hundreds of roundings",
)


def _finite_beta_terms(a, b, x):
    """`_beta_terms` where all arguments are inside of the domain, and 0 elsewhere."""
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    a, b, x = (np.where(inside, v, 0.5) for v in (a, b, x))
    return np.where(inside, _beta_terms(a, b, x), 0)


def _times_density(factor):
    """The density x^(a-1) (1-x)^(b-1) / B(a, b) times a factor."""
    return evaluated(lambda a, b, x: ref.beta_density(a, b, x) * factor(a, b, x))


def _cancels(logarithm, a, b):
    """Whether the sum of a logarithm and ψ(a + b) - ψ(a) is small compared with it."""
    return np.abs(logarithm + digamma(a + b) - digamma(a)) < np.abs(logarithm) / 8


def _uncertain(a, b, x):
    """Where the density is off by hundreds of roundings, so that a sum of such terms may lose half of its digits."""
    return _beta_terms(a, b, x) > 32


#: The derivatives of the density by a, b and x: https://dlmf.nist.gov/8.17.
_CURVES = Hessian(
    function=_BETAINC,
    terms={
        (0, 2): [
            _times_density(lambda a, b, x: mp.log(x)),
            _times_density(lambda a, b, x: mp.psi(0, a + b) - mp.psi(0, a)),
        ],
        (1, 2): [
            _times_density(lambda a, b, x: mp.log1p(-x)),
            _times_density(lambda a, b, x: mp.psi(0, a + b) - mp.psi(0, b)),
        ],
        (2, 2): [_times_density(lambda a, b, x: (a - 1) / x), _times_density(lambda a, b, x: (1 - b) / (1 - x))],
    },
    jvp=5.6,
    hvp=12,
    growth=lambda a, b, x: 1 + _beta_terms(a, b, x),
    loose={
        "hvp[0]": Loose(
            lambda a, b, x: _cancels(np.log(x), a, b) | _uncertain(a, b, x),
            "log(x) + ψ(a + b) - ψ(a) is a factor, and cancels",
        ),
        "hvp[1]": Loose(
            lambda a, b, x: _cancels(np.log1p(-x), b, a) | _uncertain(a, b, x),
            "log(1 - x) + ψ(a + b) - ψ(b) is a factor, and cancels",
        ),
        "hvp[2]": Loose(
            lambda a, b, x: _uncertain(a, b, x),
            "the terms of all tangents cancel, and each term is off by its logarithms",
        ),
    },
    **INSIDE,
)
_BOUND = {"output[0]": relative(_BETAINC, _beta_terms, 8, 2), "grad[2]": gradient(_BETAINC, 2, _beta_terms, 8, 3)}

SPECS = (
    *op(
        "betainc",
        "Betainc",
        part(
            reference=_BETAINC,
            vjp=products(_BETAINC),
            recipes={"domain": normal(within(*_BETAINC.domain, size=199), _BETAINC)},
            dtypes=WIDE,
            bound=_BOUND,
            sizes=True,
            hessian=_CURVES,
        ),
        shapes_differ(_BETAINC, _BETAINC.domain, _BOUND, _BETAINC, shapes=((2, 5), (), (2, 5))),
        hard(
            _BETAINC,
            bound={"output[0]": _hard_beta_bound, "grad[2]": _hard_beta_slope},
            loose={"output": _LARGE_LOGARITHMS, "grad": _LARGE_LOGARITHMS},
            beyond=_BETAINC_BEYOND,
            recipes={
                **hard_recipes(
                    special=((0.0, -1.0, 0.5, 1.0, 30.5, np.inf, np.nan),) * 2 + ((0.0, 0.5, 1.0, np.nan),),
                    exponents=((-126.0, 7.0), (-126.0, 7.0), (-126.0, 0.0)),
                    upstreams=((0.25, 1.0, 3.0), (0.5, 1.0), (0.0, 0.25, 0.5, 1.0)),
                ),
                "moderate": of_exponents(((-12, 6), (-12, 6), (-20, 0))),
                "outside": product_of(
                    *((0.5, 1.0, 30.5, 1e-30),) * 2, (-0.0, -1.0, -1e-30, 2.0, 1e30, np.inf, -np.inf)
                ),
            },
        ),
    ),
)
