"""Activations of `tf.nn` that Python composes of several ops."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import empty, scalar
from tf_opdiff.suites.forms.programs.api import Call, calls, elementwise, large, relative, special, within
from tf_opdiff.suites.reference.promises.function import wide
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp

_ALPHA = 0.25


def _normal_density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) if abs(x) < 1000 else mp.zero


def _normal_distribution(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 1000 else mp.mpf(x > 0)


#: https://arxiv.org/abs/1606.08415. At -inf the documented product is -inf × 0.
_GELU = Wide(lambda x: x * _normal_distribution(x), {INF: INF, -INF: NAN}, odd=True)
_GELU_SLOPE = Wide(lambda x: _normal_distribution(x) + x * _normal_density(x), {INF: 1, -INF: NAN})
_GELU_SIZE = Wide(lambda x: _normal_distribution(x) + abs(x) * _normal_density(x) * (1 + x * x), {INF: 0, -INF: 0})
_ROOT, _CUBIC = np.sqrt(np.longdouble(2) / np.pi), np.longdouble("0.044715")


@wide
def _cubic(x):
    """The argument of tanh in the approximate gelu."""
    return _ROOT * (x + _CUBIC * x * x * x)


@wide
def _gelu_approximate(x):
    """x (1 + tanh t) / 2, where 1 + tanh t is 2 / (1 + exp(-2t)), which does not cancel."""
    return x / (1 + np.exp(-2 * _cubic(x)))


@wide
def _gelu_approximate_slope(x):
    t = _cubic(x)
    weight, density = 1 / (1 + np.exp(-2 * t)), 1 / np.cosh(t) ** 2
    slope = _ROOT * (1 + 3 * _CUBIC * x * x)
    return weight + np.where(np.isinf(x), np.where(x > 0, 0, np.nan), x * density * slope) / 2


def _gelu_approximate_error(u, x):
    """tanh t is off by a few u beside 1, and t by 4u t, for which tanh has the slope 1 / cosh² t."""
    t = np.minimum(np.abs(_cubic(x)), 30)
    return u * np.abs(x) * (4 + 4 * t / np.cosh(t) ** 2)


def _gelu_approximate_slope_error(u, x):
    """1 - tanh² t is off by a few u beside 1, unless tanh t is 1."""
    t, x = np.minimum(np.abs(_cubic(x)), 30), np.clip(np.abs(x), 0, 30)
    factor = x * (1 + x * x)
    return u * (4 + (4 * t + (10 + 16 * t) * factor) / np.cosh(t) ** 2 + np.where(t < 20, 2 * factor, 0))


def _silu(beta):
    def f(x):
        return x / (1 + np.exp(-beta * x))

    def df(x):
        s, rest = 1 / (1 + np.exp(-beta * x)), 1 / (1 + np.exp(beta * x))
        return s * (1 + np.where(x == np.inf, 0, beta * x * rest))

    def size(u, x):
        """βx is off by u, for which s has the condition βx (1 - s); 1 - s has an absolute error of u."""
        x = np.clip(beta * x, -80, 80)
        s, rest = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))
        return u * s * (8 + 4 * np.abs(x) + 4 * x * x * rest)

    def error(u, x):
        return u * np.abs(f(x)) * (6 + np.abs(np.clip(beta * x, -80, 80)) * (beta != 1))

    return {"f": wide(f), "df": wide(df), "error": error, "grad_error": size}


@wide
def _leaky(x):
    return np.where(x > 0, x, np.longdouble(_ALPHA) * x)


def _leaky_slope(x):
    return np.where(x > 0, 1, _ALPHA)


@wide
def _log_sigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _crelu(x):
    return np.concatenate([np.where(x < 0, 0, x), np.where(x > 0, 0, -x)], axis=0)


def _crelu_vjp(g, x):
    positive, negative = np.split(g, 2)
    return np.where(x > 0, positive, 0) - np.where(x < 0, negative, 0)


_APPROXIMATE = elementwise(
    "nn.gelu",
    lambda tf, x: tf.nn.gelu(x, approximate=True),
    _gelu_approximate,
    _gelu_approximate_slope,
    error=_gelu_approximate_error,
    grad_error=_gelu_approximate_slope_error,
    signed=False,
)

_LOG_SIGMOID = elementwise(
    "math.log_sigmoid",
    lambda tf, x: tf.math.log_sigmoid(x),
    _log_sigmoid,
    wide(lambda x: 1 / (1 + np.exp(x))),
    error=relative(_log_sigmoid, 16),
    grad_error=relative(wide(lambda x: 1 / (1 + np.exp(x))), 8),
    signed=False,
)


def _swish_slopes(x, beta):
    """The derivatives of x s(βx) by x and by β."""
    x, beta = x.astype(np.longdouble), beta.astype(np.longdouble)
    s, rest = 1 / (1 + np.exp(-beta * x)), 1 / (1 + np.exp(beta * x))
    return s * (1 + beta * x * rest), x * x * s * rest


def _summed_to(values, beta):
    """The sum over the axes that β does not have."""
    return np.sum(values, axis=tuple(range(values.ndim - beta.ndim)))


def _swish_vjp(g, x, beta):
    by_x, by_beta = _swish_slopes(x, beta)
    return g * by_x, _summed_to(g * by_beta, beta)


def _swish_grad_error(u, g, x, beta):
    size = 1 + np.abs(beta * x)
    return 12 * u * np.abs(g) * size**2, (x.size + 20) * u * _summed_to(np.abs(g) * x * x * size, beta)


SPECS = (
    *calls(
        "api-gelu",
        elementwise(
            "nn.gelu",
            lambda tf, x: tf.nn.gelu(x),
            _GELU,
            _GELU_SLOPE,
            # The argument of erfc is off by 2u, for which erfc has the condition x², and erfc by a few ULPs.
            error=lambda u, x: u * np.abs(_GELU(x)) * (8 + 2 * x * x),
            grad_error=lambda u, x: 10 * u * _GELU_SIZE(x),
            signed=False,
        ),
        _APPROXIMATE,
        recipes={"plain": within(-4, 4), "tails": within(-9, 9), "large": large},
        ops="Erfc;Tanh",
        dtypes=("float32", "float64"),
    ),
    # In float16, the cube of an ordinary number overflows.
    *calls("api-gelu-half", _APPROXIMATE, recipes={"large": large}, ops="Tanh", dtypes=("float16",)),
    *calls(
        "api-activations",
        elementwise("nn.silu", lambda tf, x: tf.nn.silu(x), **_silu(1)),
        elementwise("nn.swish", lambda tf, x: tf.nn.swish(x, beta=1.5), **_silu(1.5)),
        elementwise(
            "nn.leaky_relu",
            lambda tf, x: tf.nn.leaky_relu(x, alpha=0.25),
            _leaky,
            _leaky_slope,
        ),
        _LOG_SIGMOID,
        Call(
            name="nn.crelu",
            program=lambda tf, x: tf.nn.crelu(x, axis=0),
            reference=_crelu,
            vjp=_crelu_vjp,
            signed=False,
        ),
        recipes={"plain": within(-4, 4), "tails": within(-50, 50), "special": special},
        ops="Sigmoid;LeakyRelu;Softplus;Relu",
        more=("float64",),
    ),
    *calls(
        "api-activations-shapes",
        elementwise("nn.silu", lambda tf, x: tf.nn.silu(x), **_silu(1)),
        elementwise("nn.leaky_relu", lambda tf, x: tf.nn.leaky_relu(x, alpha=0.25), _leaky, _leaky_slope),
        _LOG_SIGMOID,
        recipes={"empty": empty, "scalar": scalar},
        ops="Sigmoid;LeakyRelu;Softplus",
        tier="full",
    ),
    # A slope that float32 does not hold exactly.
    *calls(
        "api-leaky-relu",
        elementwise(
            "nn.leaky_relu",
            lambda tf, x: tf.nn.leaky_relu(x, alpha=0.2),
            wide(lambda x: np.where(x > 0, x, x / 5)),
            lambda x: np.where(x > 0, 1, 1 / np.longdouble(5)),
            ulp=1,
            grad_ulp=1,
        ),
        recipes={"plain": within(-4, 4)},
        ops="LeakyRelu",
        dtypes=("float32", "float64"),
    ),
    *calls(
        "api-swish-beta",
        Call(
            name="nn.swish",
            program=lambda tf, x, beta: tf.nn.swish(x, beta),
            reference=wide(lambda x, beta: x / (1 + np.exp(-beta * x))),
            vjp=_swish_vjp,
            error=lambda u, x, beta: 12 * u * np.abs(x) * (1 + np.abs(beta * x)),
            grad_error=_swish_grad_error,
        ),
        arguments=2,
        recipes={
            "channels": lambda draw, dtype: (draw.values(dtype, 6, 5), draw.values(dtype, 5)),
            "one": lambda draw, dtype: (draw.values(dtype, 6, 5), draw.values(dtype)),
        },
        ops="Sigmoid",
    ),
)
