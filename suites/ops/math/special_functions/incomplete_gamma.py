"""Incomplete gamma functions and their derivatives, in float32 and float64.

Errors measured in both dtypes, eager and compiled, are up to 0.9 of the bounds.
"""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.binary import products
from tf_opdiff.suites.forms.elementwise.special import (
    INSIDE,
    SMALL,
    derivative_op,
    gradient,
    hard,
    hard_recipes,
    of_exponents,
    relative,
    special_function,
)
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.reference.promises.function import Function, evaluated
from tf_opdiff.suites.reference.special_functions import incomplete_gamma as ref

_NOT_POSITIVE = (0.0, -0.5, -1.0, -2.0)
_ALL = (-126.0, 127.0)
#: Zeros, tiny, ordinary, huge and infinite numbers of both signs, and NaN: 14 values.
_SHAPES = (0.0, -0.0, 1.0, -1.0, -0.5, 0.5, 30.5, 2.0**-11, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan)
#: These numbers, but less huge ones: next to a huge shape, XLA adds 2^23 terms of its series, which takes 30 s.
_POINTS = (0.0, -0.0, 1.0, -1.0, -0.5, 0.5, 30.5, 2.0**-11, 1e-30, 1e20, 3e37, np.inf, -np.inf, np.nan)
#: Large shapes a, each with some x that are standard deviations √a apart. XLA's series, which has about 9 √a terms for
#: x = a, does not end there from 2^53 on: a spec of its own shows it.
_NEAR = (
    *((a, sigmas) for a in (1e2, 1e4, 1e6) for sigmas in (-2.5, 0.0, 1.5)),
    *((1e8, -2.5), (1e8, 1.5), (1e12, 1.5)),
)
#: Shapes at which XLA's series does not end.
_FAR = np.array([1e17, 3e17, 1e18])


def _gamma_terms(a, x):
    """The sizes of the logarithms whose sum is log(x^a e^-x / Γ(a)): rounding them gives its relative error."""
    x = np.where((x > 0) & np.isfinite(x), x, 1)  # at infinity the result is exactly 1 or 0
    return np.abs(a * np.log(x)) + x + np.abs(gammaln(a))


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


_DIFFERENCE_FROM_ONE = Loose(lambda a, x: x < np.maximum(1, a), "Q, computed as 1 - P there, may be small beside 1")


def _apart(a, x, spread=16.0):
    """A bound of the condition of P and Q, and of the logarithms behind them, at arguments of all sizes.

    It is that of the logarithms: measured errors are up to 3.2 times the sizes of the logarithms. Beyond 300, a method
    is known whose error grows by the distance of the arguments and, because P does, by `spread` times √a, which is less
    near a large shape: https://dlmf.nist.gov/8.12.
    """
    a, x = (np.where(np.isfinite(v) & (v > 0), v, 1.0) for v in (a, x))
    far = spread * np.sqrt(np.minimum(a, x)) + 4 * np.abs(a - x) * (1 + np.abs(np.log(a / x)))
    logarithms = 4 * _gamma_terms(a, x)
    return np.where(np.maximum(a, x) <= 300, logarithms, np.minimum(far, logarithms))


_AS_UNCERTAIN_AS_ARGUMENTS = Loose(
    lambda a, x: (np.minimum(a, x) > 300) | (_gamma_terms(a, x) > 400),
    "arguments or logarithms are so large that rounding them moves P and Q by hundreds of roundings",
)


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


def _strict(function):
    """The bounds of P or Q and of its derivatives."""
    slopes = {f"grad[{i}]": _strict_slope(derivative) for i, derivative in enumerate(function.partials)}
    return {"output[0]": _strict_gamma(function), **slopes}


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
        bound=_strict(beyond),
        recipes={
            **hard_recipes(
                special=(_SHAPES, _POINTS),
                exponents=(_ALL, _ALL),
                upstreams=((0.25, 1.0, 3.0, 30.5), (0.0, 0.5, 1.0, 3.0, 30.5, np.inf)),
            ),
            "moderate": of_exponents(((-12, 8), (-12, 8))),
            "near_shape": _near_shape,
        },
        loose={"output": _AS_UNCERTAIN_AS_ARGUMENTS, "grad": _AS_UNCERTAIN_AS_ARGUMENTS},
        beyond=beyond,
        alternatives={"grad[0]": _zeros_of_either_sign(function.partials[0])},
    )


def _near_shape(draw, dtype):
    """Large shapes, and numbers near to them; the same in both dtypes."""
    a, sigmas = np.array(_NEAR).T
    return tuple(np.resize(x.astype(np.float32), 199).astype(dtype) for x in (a, a + sigmas * np.sqrt(a)))


_SMALL_SLOPE = Loose(lambda a, x: np.abs(ref.igamma_da(a, x)) < 2.0**-9, "sums of terms of size 1 cancel in it")


_SUMS_CANCEL = Loose(
    lambda a, x: _SMALL_SLOPE(a, x) | (_gamma_terms(a, x) > 8),
    "two derivatives that lose many digits may cancel in their sum: see their bounds",
)


#: TensorFlow registers no gradient of IgammaGradA, which the gradient by a is: a known failure of `igamma-grad-a`.
_FORWARD = Hessian(terms=None, jvp=12, loose={"jvp": _SUMS_CANCEL}, **INSIDE)

SPECS = (
    *op(
        "igamma",
        "Igamma",
        special_function(
            _IGAMMA,
            _FORWARD,
            edges=(SMALL, (0.0, *SMALL, np.inf)),
            outside=(_NOT_POSITIVE, SMALL),
            bound={
                "output[0]": relative(_IGAMMA, _gamma_terms, 40, 4),
                "grad[0]": gradient(_IGAMMA, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": gradient(_IGAMMA, 1, _gamma_terms, 28, 4),
            },
            loose={"grad[0]": _SMALL_SLOPE},
        ),
        _hard_gamma(_IGAMMA, 1),
        # Beyond 2^53, XLA's series at x = a has terms that stay 1: a + n is a.
        part(
            "-far",
            reference=_IGAMMA,
            vjp=products(_IGAMMA),
            recipes={"hang": lambda draw, dtype: (_FAR, _FAR - np.arange(3) * np.sqrt(_FAR))},
            dtypes=("float64",),
            modes=("xla",),
            bound=_strict(_IGAMMA),
            loose={"output": _AS_UNCERTAIN_AS_ARGUMENTS, "grad": _AS_UNCERTAIN_AS_ARGUMENTS},
            tier="full",
        ),
    ),
    *op(
        "igamma-grad-a",
        "IgammaGradA",
        derivative_op(ref.igamma_da, ref.igamma_da_vjp, _igamma_grad_a_bound, {"output": _SMALL_SLOPE}),
    ),
    *op(
        "igammac",
        "Igammac",
        special_function(
            _IGAMMAC,
            _FORWARD,
            edges=(SMALL, (0.0, *SMALL, np.inf)),
            outside=(_NOT_POSITIVE, SMALL),
            bound={
                "output[0]": _igammac_bound,
                "grad[0]": gradient(_IGAMMAC, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": gradient(_IGAMMAC, 1, _gamma_terms, 28, 4),
            },
            loose={"output[0]": _DIFFERENCE_FROM_ONE, "grad[0]": _SMALL_SLOPE},
        ),
        _hard_gamma(_IGAMMAC, -1),
    ),
    *op(
        "random-gamma-grad",
        "RandomGammaGrad",
        derivative_op(ref.gamma_sample_da, ref.gamma_sample_da_vjp, relative(ref.gamma_sample_da, _gamma_terms, 80, 3)),
    ),
)
