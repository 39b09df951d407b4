"""Functions of `tf.math` that Python composes of several ops or dispatches by dtype."""

import numpy as np
from scipy import special as scipy_special

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.suites.forms.programs.api import Call, calls, elementwise, large, within
from tf_opdiff.suites.forms.recipes.rows import SHAPE
from tf_opdiff.suites.reference.promises.function import wide
from tf_opdiff.suites.reference.promises.wide import Wide, mp

_SIZE = 67


def _erfcinv(y):
    """The inverse of erfc, to which a Newton step in 160 bits adds the last bits."""
    if y in (0, 2):
        return mp.inf if y == 0 else -mp.inf
    if not 0 < y < 2:
        return mp.nan
    x = mp.mpf(float(scipy_special.erfcinv(float(y))))
    for _ in range(3):
        x += (mp.erfc(x) - y) / (2 / mp.sqrt(mp.pi) * mp.exp(-x * x))
    return x


_ERFCINV = Wide(_erfcinv)
#: 1 / (d/dx erfc), at the value of the inverse.
_ERFCINV_SLOPE = Wide(lambda y: -mp.sqrt(mp.pi) / 2 * mp.exp(_erfcinv(y) ** 2))


def _erfcinv_edges(draw, dtype):
    """The ends of the domain, their neighbours, values outside, and small values, where the result is large."""
    eps = float(np.finfo(dtype).eps)
    values = [1.0, 0.5, 1.5, 1e-3, 1e-10, 1e-30, 2 - eps, 2 - 1e-3, 0.0, 2.0, -0.5, 2.5, np.nan, 1 - eps, 1 + eps]
    return (np.resize(np.array(values), _SIZE).astype(dtype),)


@wide
def _reciprocal(x):
    return np.where(x == 0, 0, 1 / np.where(x == 0, 1, x))


@wide
def _polynomial(x):
    """x³ - 3 x + 0.5 by Horner's rule."""
    return (x * x - 3) * x + np.longdouble(0.5)


@wide
def _quotient(x, y):
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y))


@wide
def _product(x, y):
    return np.where(y == 0, 0, x * np.where(y == 0, 1, y))


def _pairs(draw, dtype):
    """Numbers of moderate size; a third of the second ones are zeros of either sign."""
    x, y = draw.values(dtype, _SIZE), draw.values(dtype, _SIZE)
    y[::6], y[3::6] = 0, -0.0
    return x, y


def _special_pairs(draw, dtype):
    """Special numbers, crossed."""
    values = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e30])
    x, y = np.meshgrid(values, values)
    return np.resize(x, _SIZE).astype(dtype), np.resize(y, _SIZE).astype(dtype)


def _log_beta_row(draw, dtype):
    """Positive numbers, from small to large: Γ of their sum overflows."""
    return (powers(2, draw.uniform(*SHAPE, low=-4, high=8)).astype(dtype),)


def _small_row(draw, dtype):
    """Small whole numbers and halves."""
    return ((draw.integers(*SHAPE, low=1, high=7) / 2).astype(dtype),)


def _log_gamma(x):
    return np.vectorize(lambda v: np.longdouble(float(mp.loggamma(v))), otypes=[np.longdouble])(x)


def _log_beta(x):
    """Σ log Γ(x) - log Γ(Σ x)."""
    terms = [mp.fsum([mp.loggamma(v) for v in row]) - mp.loggamma(mp.fsum(row)) for row in x.tolist()]
    return np.array([np.longdouble(float(t)) for t in terms])


def _log_beta_size(x):
    total = np.sum(x, axis=1)
    # The sum is off by n u, for which log Γ has the slope digamma.
    slope = np.abs(total * scipy_special.digamma(total))
    return np.sum(np.abs(_log_gamma(x)), axis=1) + np.abs(_log_gamma(total)) + SHAPE[1] * slope + SHAPE[1]


def _log_beta_vjp(g, x):
    return g[:, None] * (scipy_special.digamma(x) - scipy_special.digamma(np.sum(x, axis=1, keepdims=True)))


def _log_beta_grad_error(u, g, x):
    sizes = np.abs(scipy_special.digamma(x)) + np.abs(scipy_special.digamma(np.sum(x, axis=1, keepdims=True)))
    return 16 * u * np.abs(g[:, None]) * (sizes + 1)


@wide
def _sign(z):
    return np.where(z == 0, 0, z / np.where(z == 0, 1, np.abs(z)))


def _complex_plain(draw, dtype):
    """Complex numbers of moderate size, and both zeros."""
    z = draw.values(dtype, _SIZE)
    z[::9] = 0
    return (z,)


SPECS = (
    *calls(
        "api-math-unary",
        elementwise(
            "math.reciprocal_no_nan",
            lambda tf, x: tf.math.reciprocal_no_nan(x),
            _reciprocal,
            lambda x: -(_reciprocal(x) ** 2),
            ulp=0.5,
            grad_error=lambda u, x: 4 * u * _reciprocal(x) ** 2,
        ),
        recipes={"plain": within(-4, 4), "large": large},
        ops="DivNoNan",
        more=("float64",),
    ),
    *calls(
        "api-polyval",
        elementwise(
            "math.polyval",
            lambda tf, x: tf.math.polyval([1.0, 0.0, -3.0, 0.5], x),
            _polynomial,
            wide(lambda x: 3 * x * x - 3),
            error=lambda u, x: 6 * u * (np.abs(x) ** 3 + 3 * np.abs(x) + 0.5),
            grad_error=lambda u, x: 8 * u * (3 * x * x + 3),
        ),
        recipes={"plain": within(-4, 4), "large": large},
        ops="Mul",
        dtypes=("float32", "float64"),
    ),
    *calls(
        "api-erfcinv",
        elementwise(
            "math.erfcinv",
            lambda tf, x: tf.math.erfcinv(x),
            _ERFCINV,
            _ERFCINV_SLOPE,
            # Half of the argument is exact, and ndtri is off by a few ULPs; beside 1 the inverse is small.
            error=lambda u, x: u * (16 * np.abs(_ERFCINV(x)) + 2),
            grad_error=lambda u, x: u * np.abs(_ERFCINV_SLOPE(x)) * (16 + 40 * _ERFCINV(x) ** 2),
            signed=False,
        ),
        recipes={"plain": within(0.01, 1.99), "edges": _erfcinv_edges},
        ops="Ndtri",
        more=("float64",),
    ),
    *calls(
        "api-no-nan",
        Call(
            name="math.divide_no_nan",
            program=lambda tf, x, y: tf.math.divide_no_nan(x, y),
            reference=_quotient,
            vjp=lambda g, x, y: (_quotient(g, y), _quotient(_quotient(-g * _quotient(x, y), y), np.ones_like(y))),
            ulp=0.5,
            grad_error=lambda u, g, x, y: (
                2 * u * np.abs(_quotient(g, y)),
                6 * u * np.abs(_quotient(g * _quotient(x, y), y)),
            ),
        ),
        Call(
            name="math.multiply_no_nan",
            program=lambda tf, x, y: tf.math.multiply_no_nan(x, y),
            reference=_product,
            vjp=lambda g, x, y: (_product(g, y), _product(x, g)),
            ulp=0.5,
            grad_ulp=0.5,
            signed=False,
        ),
        arguments=2,
        recipes={"plain": _pairs, "special": _special_pairs},
        ops="DivNoNan;MulNoNan",
        more=("float64",),
    ),
    *calls(
        "api-log-beta",
        Call(
            name="math.lbeta",
            program=lambda tf, x: tf.math.lbeta(x),
            reference=_log_beta,
            vjp=_log_beta_vjp,
            error=lambda u, x: 9 * u * _log_beta_size(x),
            grad_error=_log_beta_grad_error,
        ),
        recipes={"plain": _log_beta_row, "small": _small_row},
        ops="Lgamma",
    ),
    *calls(
        "api-complex",
        Call(
            name="math.sign",
            program=lambda tf, z: tf.math.sign(z),
            reference=_sign,
            error=lambda u, z: 6 * u * np.abs(_sign(z)),
            signed=False,
        ),
        Call(
            name="math.abs",
            program=lambda tf, z: tf.math.abs(z),
            reference=wide(np.abs),
            error=lambda u, z: 4 * u * np.abs(z),
        ),
        Call(
            name="math.l2_normalize",
            program=lambda tf, z: tf.math.l2_normalize(z),
            reference=wide(lambda z: z / np.sqrt(np.sum(np.abs(z) ** 2))),
            error=lambda u, z: 80 * u * np.abs(z) / np.sqrt(np.sum(np.abs(z) ** 2)),
            signed=False,
        ),
        recipes={"plain": _complex_plain},
        ops="ComplexAbs;DivNoNan",
        dtypes=("complex64",),
        more=("complex128",),
    ),
)
