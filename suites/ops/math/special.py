"""Special functions of several arguments, in float32 and float64.

Errors measured in both dtypes, eager and compiled, are up to 0.9 of the bounds.
"""

import math

import numpy as np

from tf_opdiff.suites.forms.binary import product_of, products
from tf_opdiff.suites.forms.op import op, part, with_sizes
from tf_opdiff.suites.forms.pairs import normal, within
from tf_opdiff.suites.reference import special as ref
from tf_opdiff.suites.reference.broadcast import unbroadcast
from tf_opdiff.suites.reference.function import Function, evaluated

_WIDE = ("float32", "float64")
_SMALL, _NOT_POSITIVE = (2.0**-11, 0.5, 1.0, 2.0, 3.0, 30.5), (0.0, -0.5, -1.0, -2.0)
_lgamma = np.vectorize(lambda x: math.lgamma(x) if x > 0 else 0.0, otypes=[float])


def _special(function, *, edges, outside, bound, loose=None):
    """A part: a function in its domain, at edge values, outside of the domain, and at NaN."""

    def domain(draw, dtype):
        xs = within(*function.domain, size=199)(draw, dtype)
        return tuple(np.floor(x) if i in function.whole else x for i, x in enumerate(xs))

    at_edges = normal(product_of(*edges), function, gradient=False)
    at_nan = product_of((np.nan, *_SMALL[:2]), (np.nan, np.nan, 3.0))
    fields = {"reference": function, "dtypes": _WIDE, "ulp": {"output": 0.5}, "bound": bound, "loose": loose or {}}
    return with_sizes(
        part(vjp=products(function), recipes={"domain": normal(domain, function)}, **fields),
        part("-edges", recipes={"edges": at_edges}, **fields),
        part("-outside", recipes={"outside": product_of(*outside), "nan": at_nan}, **fields),
        sources={"": "domain"},
    )


def _derivative(reference, vjp, bound, loose=None):
    """A part: a derivative that is an op of its own; the promise of its gradient is made of differences."""

    def near(i):
        return lambda u, g, *xs: 1e-3 * np.abs(vjp(g, *xs)[i])

    values = part(
        reference=reference,
        vjp=vjp,
        recipes={"domain": within((0.1, 20.0), (0.1, 20.0), size=199)},
        dtypes=_WIDE,
        bound={"output[0]": bound, "grad[0]": near(0), "grad[1]": near(1)},
        # TensorFlow has no gradient of these ops, and the promise of it has no more than 3 digits.
        loose={"grad": lambda *xs: True, **(loose or {})},
    )
    return with_sizes(values, sources={"": "domain"})


def _relative(f, terms, least, slope):
    """The bound u |f| (least + slope × terms)."""
    return lambda u, g, *xs: u * np.abs(f(*xs)) * (least + slope * terms(*xs))


def _gradient(function, argument, terms, least, slope, floor=0.0):
    """The bound u |g| (floor + |d| (least + slope × terms)), where d is the derivative by an argument."""

    def bound(u, g, *xs):
        d = np.abs(function.partials[argument](*xs))
        return u * unbroadcast(np.abs(g) * (floor + d * (least + slope * terms(*xs))), xs[argument].shape)

    return bound


def _gamma_terms(a, x):
    """The sizes of the logarithms whose sum is log(x^a e^-x / Γ(a)): rounding them gives its relative error."""
    x = np.where((x > 0) & np.isfinite(x), x, 1)  # at infinity the result is exactly 1 or 0
    return np.abs(a * np.log(x)) + x + np.abs(_lgamma(a))


def _beta_terms(a, b, x):
    """The sizes of the logarithms whose sum is log(x^a (1 - x)^b / B(a, b))."""
    logs = np.abs(a * np.log(x)) + np.abs(b * np.log1p(-x))
    return logs + np.abs(_lgamma(a)) + np.abs(_lgamma(b)) + np.abs(_lgamma(a + b))


def _zeta_terms(s, q):
    """The size of log(q^-s)."""
    return np.abs(s * np.log(np.abs(q)))


_BETAINC = Function(
    f=evaluated(ref.betainc),
    partials=(None, None, evaluated(ref.beta_density)),
    exact=ref.betainc,
    domain=((0.2, 8.0), (0.2, 8.0), (0.0, 1.0)),
)
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
_POLYGAMMA = Function(
    f=evaluated(ref.polygamma),
    partials=(None, evaluated(lambda n, x: ref.polygamma(n + 1, x))),
    exact=ref.polygamma,
    domain=((0.0, 5.0), (0.1, 20.0)),
    whole=(0,),
)
_ZETA = Function(
    f=evaluated(ref.zeta),
    partials=(None, evaluated(lambda s, q: -s * ref.zeta(s + 1, q))),
    exact=ref.zeta,
    domain=((1.1, 12.0), (0.1, 20.0)),
)


def _igammac_bound(u, g, a, x):
    """Where x is below 1 or a, Q is computed as 1 - P."""
    return _relative(_IGAMMAC, _gamma_terms, 40, 4)(u, g, a, x) + 8 * u * (x < np.maximum(1, a))


def _igamma_grad_a_bound(u, g, a, x):
    return u * (2 + np.abs(ref.igamma_da(a, x)) * (60 + 4 * _gamma_terms(a, x)))


def _difference_from_one(a, x):
    """Where Q is computed as 1 - P, and may be small beside 1."""
    return x < np.maximum(1, a)


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
                dtypes=_WIDE,
                bound={
                    "output[0]": _relative(_BETAINC, _beta_terms, 8, 2),
                    "grad[2]": _gradient(_BETAINC, 2, _beta_terms, 8, 3),
                },
            ),
            sources={"": "domain"},
        ),
        arguments=("a", "b", "x"),
    ),
    *op(
        "igamma",
        "Igamma",
        _special(
            _IGAMMA,
            edges=(_SMALL, (0.0, *_SMALL, np.inf)),
            outside=(_NOT_POSITIVE, _SMALL),
            bound={
                "output[0]": _relative(_IGAMMA, _gamma_terms, 40, 4),
                "grad[0]": _gradient(_IGAMMA, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": _gradient(_IGAMMA, 1, _gamma_terms, 28, 4),
            },
            loose={"grad[0]": _small_slope},
        ),
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
        _special(
            _IGAMMAC,
            edges=(_SMALL, (0.0, *_SMALL, np.inf)),
            outside=(_NOT_POSITIVE, _SMALL),
            bound={
                "output[0]": _igammac_bound,
                "grad[0]": _gradient(_IGAMMAC, 0, _gamma_terms, 60, 4, floor=2),
                "grad[1]": _gradient(_IGAMMAC, 1, _gamma_terms, 28, 4),
            },
            loose={"output[0]": _difference_from_one, "grad[0]": _small_slope},
        ),
        arguments=("a", "x"),
    ),
    *op(
        "polygamma",
        "Polygamma",
        _special(
            _POLYGAMMA,
            edges=((0.0, 1.0, 2.0, 7.0), _SMALL),
            outside=((-1.0, 0.5), _SMALL),
            bound={  # ψ, of n = 0, has a root at 1.46
                "output[0]": lambda u, g, n, x: u * (8 * (n == 0) + (24 + 4 * n) * np.abs(_POLYGAMMA(n, x))),
                "grad[1]": _gradient(_POLYGAMMA, 1, lambda n, x: n, 16, 3),
            },
        ),
        arguments=("a", "x"),
    ),
    *op(
        "random-gamma-grad",
        "RandomGammaGrad",
        _derivative(ref.gamma_sample_da, ref.gamma_sample_da_vjp, _relative(ref.gamma_sample_da, _gamma_terms, 80, 3)),
        arguments=("alpha", "sample"),
    ),
    *op(
        "zeta",
        "Zeta",
        _special(
            _ZETA,
            edges=((1.5, 2.0, 3.0, 7.0), (0.0, -1.0, *_SMALL)),
            outside=((0.5, -1.0, 1.0), _SMALL),
            bound={
                "output[0]": _relative(_ZETA, _zeta_terms, 5, 2),
                "grad[1]": _gradient(_ZETA, 1, _zeta_terms, 6, 2),
            },
        ),
        arguments=("x", "q"),
    ),
)
