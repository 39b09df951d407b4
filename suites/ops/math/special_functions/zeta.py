"""Hurwitz' zeta function and the derivatives of digamma, in float32 and float64.

Errors measured in both dtypes, eager and compiled, are up to 0.9 of the bounds.
"""

import numpy as np
from scipy.special import gammaln

from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.special import (
    INSIDE,
    SMALL,
    gradient,
    hard,
    hard_recipes,
    of_exponents,
    relative,
    special_function,
)
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.promises.function import Function, evaluated
from tf_opdiff.suites.reference.special_functions import zeta as ref

#: Zeros and poles, numbers between them, tiny and huge ones, infinities and NaN.
_POLES = (0.5, 1.0, 30.5, 0.0, -0.0, -1.0, -2.0, -0.5, -2.5, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan)


def _signed(function, sign):
    """A function with a sign(*arguments) of the zeros that it gives; mpmath's zeros have none."""

    def signed(*xs):
        y = function(*xs)
        return np.where(y == 0, np.copysign(0.0, sign(*xs)), y)

    return signed


def _alternating(n, x):
    """The sign of the derivatives of ψ at infinity: positive for odd n."""
    return np.where((n > 0) & (n % 2 == 0), -1.0, 1.0)


_next_polygamma = _signed(evaluated(lambda n, x: ref.polygamma(n + 1, x)), lambda n, x: _alternating(n + 1, x))
_POLYGAMMA = Function(
    f=_signed(evaluated(ref.polygamma), _alternating),
    partials=(None, _next_polygamma),
    exact=ref.polygamma,
    domain=((0.0, 5.0), (0.1, 20.0)),
    whole=(0,),
)
_zeta = evaluated(ref.zeta)
_ZETA = Function(
    f=_zeta,
    partials=(None, _signed(evaluated(lambda s, q: -s * ref.zeta(s + 1, q)), lambda s, q: -1.0)),
    exact=ref.zeta,
    domain=((1.1, 12.0), (0.1, 20.0)),
)


def _zeta_terms(s, q):
    """The size of log(q^-s)."""
    return np.abs(s * np.log(np.abs(q)))


def _slope_of_power(s, q):
    """-ζ(s + 1, q), a term of the mixed derivative."""
    return -_zeta(s + 1, q)


def _polygamma_terms(n, x):
    """The sizes of the logarithms whose sum is log(n! x^-(n+1)), and the condition n of the power."""
    n, x = (np.where(np.isfinite(v), v, 1.0) for v in (n, np.abs(x)))
    return np.where(n > 0, n + gammaln(n + 1) + (n + 1) * np.abs(np.log(np.where(x > 0, x, 1))), 0)


def _hard_polygamma_bound(u, g, n, x):
    return u * (20 * (n == 0) + np.abs(_POLYGAMMA(n, x)) * (24 + 4 * _polygamma_terms(n, x)))


def _hard_polygamma_slope(u, g, n, x):
    size = np.abs(_next_polygamma(n, x)) * (24 + 4 * _polygamma_terms(n + 1, x))
    return np.abs(g) * (20 * (n == -1) + size) * u


def _finite_zeta_terms(s, q):
    """`_zeta_terms` where all arguments are finite and not 0, and 0 elsewhere."""
    inside = np.isfinite(s) & np.isfinite(q) & (q != 0)
    return np.where(inside, _zeta_terms(np.where(inside, s, 1), np.where(inside, q, 1)), 0)


def _zeta_at_poles(dtype, g, s, q):
    """NaN where both arguments are at their poles, s = 1 and q <= 0; at q = 0, the limit from the side of its sign.

    An infinite s counts as an even number, as in C99's pow: for q < 0 the function is infinite then.
    """
    side = np.where(np.signbit(q), np.where(s % 2 == 1, -np.inf, np.nan), np.inf)
    value = np.where((s == 1) & (q <= 0), np.nan, _ZETA(s, q))
    even = np.where((s == np.inf) & (q < 0), np.inf, _ZETA(s, q))
    return [np.where((q == 0) & (s > 1) & np.isfinite(s), side, value), even]


def _next_in_dtype(dtype, g, s, q):
    """The derivative -s ζ(s + 1, q) with s + 1 rounded to the dtype: it may be at the pole, 1, and even or odd.

    An infinite s counts as an even number: see `_zeta_at_poles`.
    """
    value = g * -s * _zeta((s + 1).astype(dtype).astype(np.float64), q)
    return [value, np.where((s == np.inf) & (q < 0), g * -np.inf, value)]


def _polygamma_at_zero(dtype, g, n, x):
    """At x = 0, the limit from the side of its sign: -inf at +0 and inf at -0 for even n. See `_of_infinite_order`."""
    side = np.where(np.signbit(x), np.inf, -np.inf)
    value = np.where((x == 0) & (n >= 0) & (n % 2 == 0), side, _POLYGAMMA(n, x))
    return [value, np.where(n == np.inf, np.inf, value)]


def _of_infinite_order(dtype, g, n, x):
    """Infinite: (-1)^(n+1) is 1 then in C99, where infinity is an even number."""
    return [np.where(n == np.inf, g * np.inf, g * _next_polygamma(n, x))]


SPECS = (
    *op(
        "polygamma",
        "Polygamma",
        special_function(
            _POLYGAMMA,
            Hessian(
                terms={(1, 1): [evaluated(lambda n, x: ref.polygamma(n + 2, x))]},
                jvp=0,
                hvp=18,
                growth=lambda n, x: 1 + n / 4,
                **INSIDE,
            ),
            edges=((0.0, 1.0, 2.0, 7.0), SMALL),
            outside=((-1.0, 0.5), SMALL),
            bound={  # ψ, of n = 0, has a root at 1.46
                "output[0]": lambda u, g, n, x: u * (8 * (n == 0) + (24 + 4 * n) * np.abs(_POLYGAMMA(n, x))),
                "grad[1]": gradient(_POLYGAMMA, 1, lambda n, x: n, 16, 3),
            },
        ),
        hard(
            _POLYGAMMA,
            bound={"output[0]": _hard_polygamma_bound, "grad[1]": _hard_polygamma_slope},
            recipes={
                **hard_recipes(
                    special=((0.0, -0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 30.0, np.inf, -np.inf, np.nan), _POLES),
                    exponents=((-1.0, 6.0), (-126.0, 127.0)),
                    upstreams=((0.0, 1.0, 2.0, 7.0), (0.25, 1.0, 3.0, 30.5, 1e30, np.inf)),
                    whole=(0,),
                ),
                "moderate": of_exponents(((-1, 5), (-12, 12)), whole=(0,)),
            },
            alternatives={"output": _polygamma_at_zero, "grad[1]": _of_infinite_order},
        ),
    ),
    *op(
        "zeta",
        "Zeta",
        special_function(
            _ZETA,
            Hessian(
                terms={
                    (0, 1): [_slope_of_power, evaluated(lambda s, q: -s * ref.zeta_ds(s + 1, q))],
                    (1, 1): [evaluated(lambda s, q: s * (s + 1) * ref.zeta(s + 2, q))],
                },
                jvp=0,
                hvp=7,
                growth=lambda s, q: 1 + _zeta_terms(s, q) / 4,
                **INSIDE,
            ),
            edges=((1.5, 2.0, 3.0, 7.0), (0.0, -1.0, *SMALL)),
            outside=((0.5, -1.0, 1.0), SMALL),
            bound={"output[0]": relative(_ZETA, _zeta_terms, 5, 2), "grad[1]": gradient(_ZETA, 1, _zeta_terms, 6, 2)},
        ),
        hard(
            _ZETA,
            bound={
                "output[0]": relative(_ZETA, _finite_zeta_terms, 64, 4),
                "grad[1]": gradient(_ZETA, 1, _finite_zeta_terms, 64, 4),
            },
            recipes={
                **hard_recipes(
                    special=(
                        (1.0, 1.0078125, 2.0, 3.0, 30.0, 127.0, 3e38, 0.5, -1.0, 0.0, np.inf, -np.inf, np.nan),
                        _POLES,
                    ),
                    exponents=((0.001, 6.0), (-126.0, 127.0)),
                    upstreams=((1.5, 2.0, 3.0, 7.0), (0.0, 0.5, 1.0, 3.0, 30.5, np.inf)),
                ),
                "moderate": of_exponents(((0.001, 5), (-12, 12))),
            },
            alternatives={"output": _zeta_at_poles, "grad[1]": _next_in_dtype},
        ),
    ),
)
