"""Incomplete beta and gamma functions and their derivatives, in float32 and float64.

Errors measured in both dtypes, eager and compiled, are up to 0.9 of the bounds.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from tf_opdiff.suites.forms.binary import product_of, products
from tf_opdiff.suites.forms.op import op, part, with_sizes
from tf_opdiff.suites.forms.pairs import normal, within
from tf_opdiff.suites.forms.special import (
    SMALL,
    WIDE,
    gradient,
    hard,
    hard_recipes,
    of_all_sizes,
    relative,
    special_function,
)
from tf_opdiff.suites.reference import special as ref
from tf_opdiff.suites.reference.function import Function, evaluated

_NOT_POSITIVE = (0.0, -0.5, -1.0, -2.0)
_ALL = (-126.0, 127.0)
#: Zeros, tiny, ordinary, huge and infinite numbers of both signs, and NaN: 14 values.
_SHAPES = (0.0, -0.0, 1.0, -1.0, -0.5, 0.5, 30.5, 2.0**-11, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan)
#: The same, but other huge numbers: next to a huge shape, XLA adds 2^23 terms of its series, which takes 30 s.
_POINTS = (0.0, -0.0, 1.0, -1.0, -0.5, 0.5, 30.5, 2.0**-11, 1e-30, 1e20, 3e37, np.inf, -np.inf, np.nan)
#: Large shapes a, each with some x that are standard deviations √a apart.
_NEAR = (
    *((a, sigmas) for a in (1e2, 1e4, 1e6) for sigmas in (-2.5, 0.0, 1.5)),
    *((1e8, -2.5), (1e8, 1.5), (1e12, 1.5)),
)
_BETA_SHAPES = ((0.5, 1.0, 30.5, 1e-30), (0.5, 1.0, 30.5, 1e-30))
_lgamma = np.vectorize(lambda x: math.lgamma(x) if x > 0 else 0.0, otypes=[float])


def _derivative(reference, vjp, bound, loose=None):
    """A part: a derivative that is an op of its own; the promise of its gradient is made of differences."""

    def near(i):
        return lambda u, g, *xs: 1e-3 * np.abs(vjp(g, *xs)[i])

    values = part(
        reference=reference,
        vjp=vjp,
        recipes={"domain": within((0.1, 20.0), (0.1, 20.0), size=199)},
        dtypes=WIDE,
        bound={"output[0]": bound, "grad[0]": near(0), "grad[1]": near(1)},
        # TensorFlow has no gradient of these ops, and the promise of it has no more than 3 digits.
        loose={"grad": lambda *xs: True, **(loose or {})},
    )
    return with_sizes(values, sources={"": "domain"})


def _gamma_terms(a, x):
    """The sizes of the logarithms whose sum is log(x^a e^-x / Γ(a)): rounding them gives its relative error."""
    x = np.where((x > 0) & np.isfinite(x), x, 1)  # at infinity the result is exactly 1 or 0
    return np.abs(a * np.log(x)) + x + np.abs(_lgamma(a))


def _beta_terms(a, b, x):
    """The sizes of the logarithms whose sum is log(x^a (1 - x)^b / B(a, b))."""
    logs = np.abs(a * np.log(x)) + np.abs(b * np.log1p(-x))
    return logs + np.abs(_lgamma(a)) + np.abs(_lgamma(b)) + np.abs(_lgamma(a + b))


_BETAINC = Function(
    f=evaluated(ref.betainc),
    partials=(None, None, evaluated(ref.beta_density)),
    exact=ref.betainc,
    domain=((0.2, 8.0), (0.2, 8.0), (0.0, 1.0)),
)


def _beta_slope_beyond(a, b, x):
    inside = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    return np.where(inside, _BETAINC.partials[2](a, b, x), ref.beta_density_beyond(a, b, x))


#: With the formula of its derivative outside of the domain, where the function is NaN.
_BETAINC_BEYOND = replace(_BETAINC, partials=(None, None, _beta_slope_beyond))
_IGAMMA = Function(
    f=evaluated(ref.igamma),
    partials=(ref.igamma_da, ref.gamma_density),
    exact=ref.igamma,
    domain=((0.1, 20.0), (0.1, 20.0)),
)
_IGAMMAC = Function(
    f=evaluated(ref.igammac),
    partials=(lambda a, x: -ref.igamma_da(a, x), lambda a, x: -ref.gamma_density(a, x)),
    exact=ref.igammac,
    domain=((0.1, 20.0), (0.1, 20.0)),
)


def _igammac_bound(u, g, a, x):
    """Where x is below 1 or a, Q is computed as 1 - P."""
    return relative(_IGAMMAC, _gamma_terms, 40, 4)(u, g, a, x) + 8 * u * (x < np.maximum(1, a))


def _igamma_grad_a_bound(u, g, a, x):
    return u * (2 + np.abs(ref.igamma_da(a, x)) * (60 + 4 * _gamma_terms(a, x)))


def _difference_from_one(a, x):
    """Where Q is computed as 1 - P, and may be small beside 1."""
    return x < np.maximum(1, a)


def _apart(a, x, spread=16.0):
    """A bound of the condition of P and Q, and of the logarithms of which they are computed, at arguments of all sizes.

    Up to 300 it is that of the logarithms: measured errors are up to 3.2 times the sizes of the logarithms. Beyond, a
    method is known whose error grows by the distance of the arguments and, because P does, by `spread` times √a:
    https://dlmf.nist.gov/8.12.
    """
    a, x = (np.where(np.isfinite(v) & (v > 0), v, 1.0) for v in (a, x))
    far = spread * np.sqrt(np.minimum(a, x)) + 4 * np.abs(a - x) * (1 + np.abs(np.log(a / x)))
    return np.where(np.maximum(a, x) <= 300, 4 * _gamma_terms(a, x), far)


def _as_uncertain_as_arguments(a, x):
    """Where arguments or logarithms are so large that rounding them moves P and Q by hundreds of roundings."""
    return (np.minimum(a, x) > 300) | (_gamma_terms(a, x) > 900)


def _strict_gamma(function):
    """The bound of P or Q without an allowance for the difference from 1."""

    def bound(u, g, a, x):
        smaller = np.fmin(_IGAMMA(a, x), _IGAMMAC(a, x))
        return u * (40 * np.abs(function(a, x)) + np.where(smaller > 0, _apart(a, x) * smaller, 0))

    return bound


def _strict_slope(derivative):
    """The bound of a derivative of P or Q, relative to the derivative; log x is a logarithm of the density."""

    def bound(u, g, a, x):
        size, log = np.abs(derivative(a, x)), np.abs(np.log(np.where((x > 0) & np.isfinite(x), x, 1)))
        return np.abs(g) * np.where(size > 0, size * (60 + _apart(a, x, 0) + 4 * log), 0) * u

    return bound


def _beyond(function, sign):
    """The function with the formula of its derivative by x outside of the domain, where the function is NaN."""

    def slope(a, x):
        return np.where((a > 0) & (x >= 0), function.partials[1](a, x), sign * ref.gamma_density_beyond(a, x))

    return replace(function, partials=(function.partials[0], slope))


def _zeros_of_either_sign(derivative):
    """Alternatives: a derivative that underflows, and its product with a finite upstream, is a zero of either sign."""

    def alternatives(dtype, g, a, x):
        slope, least = derivative(a, x), 4 * float(np.finfo(dtype).smallest_normal)
        small = np.isfinite(g) & (np.abs(slope) * np.minimum(1, np.abs(g)) < least)
        return [np.where(small, zero, g * slope) for zero in (0.0, -0.0)]

    return alternatives


def _hard_gamma(function, sign):
    """The hard parts of P or Q, whose derivative by x has a sign."""
    beyond = _beyond(function, sign)
    return hard(
        function,
        bound={
            "output[0]": _strict_gamma(function),
            "grad[0]": _strict_slope(function.partials[0]),
            "grad[1]": _strict_slope(beyond.partials[1]),
        },
        recipes={
            **hard_recipes(
                special=(_SHAPES, _POINTS),
                exponents=(_ALL, _ALL),
                upstreams=((0.25, 1.0, 3.0, 30.5), (0.0, 0.5, 1.0, 3.0, 30.5, np.inf)),
            ),
            "moderate": of_all_sizes(((-12, 8), (-12, 8))),
            "near_shape": _near_shape,
        },
        loose={"output": _as_uncertain_as_arguments, "grad": _as_uncertain_as_arguments},
        beyond=beyond,
        alternatives={"grad[0]": _zeros_of_either_sign(function.partials[0])},
    )


def _near_shape(draw, dtype):
    """Large shapes, and numbers near to them; the same in both dtypes."""
    a, sigmas = np.array(_NEAR).T
    return tuple(np.resize(x.astype(np.float32), 199).astype(dtype) for x in (a, a + sigmas * np.sqrt(a)))


def _hard_beta_bound(u, g, a, b, x):
    value = _BETAINC(a, b, x)
    smaller = np.fmin(value, 1 - value)
    return u * (40 * np.abs(value) + np.where(smaller > 0, 4 * _finite_beta_terms(a, b, x) * smaller, 0))


def _hard_beta_slope(u, g, a, b, x):
    size, least = np.abs(_BETAINC_BEYOND.partials[2](a, b, x)), np.where((x >= 0) & (x <= 1), 8, 64)
    return np.abs(g) * np.where((size > 0) & np.isfinite(size), size * (least + 3 * _slope_terms(a, b, x)), 0) * u


def _slope_terms(a, b, x):
    """The sizes of the logarithms whose sum is that of the density; infinite ones count 0."""
    logs = xlogy(a - 1, x), xlog1py(b - 1, -x), gammaln(a), gammaln(b), gammaln(a + b)
    return sum(np.where(np.isfinite(log), np.abs(log), 0) for log in logs)


def _finite_beta_terms(a, b, x):
    """`_beta_terms` where all arguments are inside of the domain, and 0 elsewhere."""
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    a, b, x = (np.where(inside, v, 0.5) for v in (a, b, x))
    return np.where(inside, _beta_terms(a, b, x), 0)


def _small_slope(a, x):
    """Where the derivative by a, which is computed from sums of terms of size 1, is small beside them."""
    return np.abs(ref.igamma_da(a, x)) < 2.0**-9


SPECS = (
    *op(
        "betainc",
        "Betainc",
        with_sizes(
            part(
                reference=_BETAINC,
                vjp=products(_BETAINC),
                recipes={"domain": normal(within(*_BETAINC.domain, size=199), _BETAINC)},
                dtypes=WIDE,
                bound={
                    "output[0]": relative(_BETAINC, _beta_terms, 8, 2),
                    "grad[2]": gradient(_BETAINC, 2, _beta_terms, 8, 3),
                },
            ),
            sources={"": "domain"},
        ),
        hard(
            _BETAINC,
            bound={"output[0]": _hard_beta_bound, "grad[2]": _hard_beta_slope},
            beyond=_BETAINC_BEYOND,
            recipes={
                **hard_recipes(
                    special=((0.0, -1.0, 0.5, 1.0, 30.5, np.inf, np.nan),) * 2 + ((0.0, 0.5, 1.0, np.nan),),
                    exponents=((-126.0, 7.0), (-126.0, 7.0), (-126.0, 0.0)),
                    upstreams=((0.25, 1.0, 3.0), (0.5, 1.0), (0.0, 0.25, 0.5, 1.0)),
                ),
                "moderate": of_all_sizes(((-12, 6), (-12, 6), (-20, 0))),
                "outside": product_of(
                    *((0.5, 1.0, 30.5, 1e-30),) * 2, (-0.0, -1.0, -1e-30, 2.0, 1e30, np.inf, -np.inf)
                ),
            },
        ),
        arguments=("a", "b", "x"),
    ),
    *op(
        "igamma",
        "Igamma",
        special_function(
            _IGAMMA,
            edges=(SMALL, (0.0, *SMALL, np.inf)),
            outside=(_NOT_POSITIVE, SMALL),
            bound={
                "output[0]": relative(_IGAMMA, _gamma_terms, 40, 4),
                "grad[0]": gradient(_IGAMMA, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": gradient(_IGAMMA, 1, _gamma_terms, 28, 4),
            },
            loose={"grad[0]": _small_slope},
        ),
        _hard_gamma(_IGAMMA, 1),
        arguments=("a", "x"),
    ),
    *op(
        "igamma-grad-a",
        "IgammaGradA",
        _derivative(ref.igamma_da, ref.igamma_da_vjp, _igamma_grad_a_bound, {"output": _small_slope}),
        arguments=("a", "x"),
    ),
    *op(
        "igammac",
        "Igammac",
        special_function(
            _IGAMMAC,
            edges=(SMALL, (0.0, *SMALL, np.inf)),
            outside=(_NOT_POSITIVE, SMALL),
            bound={
                "output[0]": _igammac_bound,
                "grad[0]": gradient(_IGAMMAC, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": gradient(_IGAMMAC, 1, _gamma_terms, 28, 4),
            },
            loose={"output[0]": _difference_from_one, "grad[0]": _small_slope},
        ),
        _hard_gamma(_IGAMMAC, -1),
        arguments=("a", "x"),
    ),
    *op(
        "random-gamma-grad",
        "RandomGammaGrad",
        _derivative(ref.gamma_sample_da, ref.gamma_sample_da_vjp, relative(ref.gamma_sample_da, _gamma_terms, 80, 3)),
        arguments=("alpha", "sample"),
    ),
)
