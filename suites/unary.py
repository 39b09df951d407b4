"""Unary elementwise ops: value and derivative against mpmath, budgets in ULPs by dtype."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS, SIZE, bit_patterns, edges, matrix, plain, subnormals
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.references.conventions import EXTREMES
from tf_opdiff.suites.references.elementwise import PAIRS
from tf_opdiff.suites.references.subnormal import DENORMALS, LINK, WHY, flushed


def domain(low, high):
    """A recipe: values all over an interval, and the neighbours of its ends on both sides."""

    def recipe(draw, dtype):
        x = draw.uniform(67, low=low, high=high).astype(dtype)
        for i, end in enumerate((low, high)):
            end = np.array(end, dtype)
            beside = [np.nextafter(end, np.array(d, dtype), dtype=dtype) for d in (-np.inf, np.inf)] if end else []
            x[3 * i : 3 * i + 1 + len(beside)] = [end, *beside]
        return (x,)

    return recipe


def _lost(pair, dtype, x):
    """Where the result or the gradient is subnormal: that is flushed or not, as the plan does it.

    And where the derivative overflows but for a small upstream: it is computed before it meets it.
    """
    info = ml_dtypes.finfo(dtype)
    least, tiny, top = (float(v) for v in (info.smallest_subnormal, info.smallest_normal, info.max))
    f, d = np.abs(pair.f(x)), np.abs(pair.d(x))
    return ((f > least / 4) & (f < 1.01 * tiny)) | ((d > least / 16) & (d < 4 * tiny)) | ((d > top / 4) & (d < 4 * top))


def _without(recipe, unwanted, spare):
    """The recipe, with the first of the spare values that is not unwanted(dtype, x) in place of what is."""

    def rest(draw, dtype):
        (x,), spares = recipe(draw, dtype), np.array(spare).astype(dtype)
        wanted = ~unwanted(dtype, spares.astype(np.float64))
        return (np.where(unwanted(dtype, x.astype(np.float64)), spares[wanted][0], x),)

    return rest


def _only(recipes, wanted, unwanted):
    """A recipe: what is wanted(dtype, x) and not unwanted(dtype, x) of what the recipes give."""

    def some(draw, dtype):
        x = np.concatenate([recipe(draw, dtype)[0] for _ in range(20) for recipe in recipes])
        x = x[wanted(dtype, x.astype(np.float64))]
        x = x[np.arange(SIZE) * len(x) // SIZE] if len(x) else x
        kept = x[~unwanted(dtype, x.astype(np.float64))]
        return (np.resize(kept if len(kept) else np.ones(1, dtype), SIZE),)

    return some


_OPENXLA_SIGN = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.sign.html"
_ZERO = (
    "the gradient is g sign(x), and stablehlo.sign, from which GPU kernels are generated as well, keeps a zero's sign"
)
_KEEPS_ZERO = Side(
    reference=PAIRS["abs"].f,
    vjp=lambda g, x: g * np.where(x == 0, x, PAIRS["abs"].d(x)),
    why=_ZERO,
    link=_OPENXLA_SIGN,
)
_RELU = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/relu_op.cc"


_SELECTED = "XLA selects g or +0, where the kernels multiply by 0, which keeps the sign of g"


def _selects(name):
    """XLA's side of the gradient of relu and relu6: a zero where f' is zero, not g times zero."""
    f, d, _ = PAIRS[name]
    return {"*/xla": Side(reference=f, vjp=lambda g, x: np.where(d(x) == 0, 0.0, g), why=_SELECTED, link=_RELU)}


def _side(condition):
    return {"*/xla": Side(reference=lambda g, x: np.where(condition(x), g, 0.0), why=_SELECTED, link=_RELU)}


_NAN_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/elu_op.cc"
_NAN = "XLA takes the exponential branch unless the output is above 0, so that the gradient at NaN is NaN"


def _nan_stays(name):
    """XLA's side of the gradient of elu and selu: NaN at NaN."""
    f, d, _ = PAIRS[name]
    side = Side(reference=f, vjp=lambda g, x: g * np.where(np.isnan(x), x, d(x)), why=_NAN, link=_NAN_LINK)
    return {"*/xla": side}


def _nan_stays_in(gradient):
    """The same of the ops EluGrad and SeluGrad."""
    return {"*/xla": Side(reference=lambda g, y: np.where(np.isnan(y), y, gradient(g, y)), why=_NAN, link=_NAN_LINK)}


def _elu_grad(g, y):
    """In terms of the output: `gradients * (outputs + 1)` if outputs < 0, `gradients` otherwise, so at NaN."""
    return np.where(y < 0, g * (y + 1), g)


def _selu_grad(g, y):
    """https://arxiv.org/abs/1706.02515, in terms of the output: y + scale × alpha left of 0, scale elsewhere."""
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return g * np.where(y < 0, y + np.longdouble(scale) * np.longdouble(alpha), np.longdouble(scale))


_CONTRACTS = {
    "elu": _nan_stays("elu"),
    "elu-grad": _nan_stays_in(_elu_grad),
    "selu": _nan_stays("selu"),
    "selu-grad": _nan_stays_in(_selu_grad),
    "abs": {"*/xla": _KEEPS_ZERO, "gpu/*": _KEEPS_ZERO},
    "relu": _selects("relu"),
    "relu-grad": _side(lambda x: x > 0),
    "relu6": _selects("relu6"),
    "relu6-grad": _side(lambda x: (x > 0) & (x < 6)),
}


def _grad_bound(name, relative):
    """A bound of the gradient's error: relative(x, f(x), f'(x)) × u × the gradient."""
    f, d, _ = PAIRS[name]
    return {"grad[0]": lambda u, g, x: u * np.abs(g * d(x)) * relative(x, np.abs(f(x)), np.abs(d(x)))}


def _scaled_exp(name):
    """XLA computes exp(x + log 1/2): rounding that sum costs |x| / 2 ULP and more."""
    f, d, _ = PAIRS[name]
    return {
        "output[0]": lambda u, g, x: u * np.abs(f(x)) * (4 + np.abs(x)),
        "grad[0]": lambda u, g, x: u * np.abs(g * d(x)) * (6 + np.abs(x)),
    }


def _oscillating(name):
    """Beyond 1, Cephes takes the sine and cosine of x - π/4, rounded: that is off by u x, in units of the amplitude.

    J of smaller arguments is a series, whose error is relative. Y has zeros and a logarithm there.
    """
    f, d, _ = PAIRS[name]
    series = 1.0 if name in ("bessel-j0", "bessel-j1") else 0.0

    def bound(u, x, y):
        amplitude = np.where(np.abs(x) < series, 0, np.minimum(1, np.abs(x) ** -0.5))
        return 10 * u * np.abs(y) + amplitude * np.minimum(2, u * (8 + 2 * np.abs(x)))

    return {
        "output[0]": lambda u, g, x: bound(u, x, f(x)),
        "grad[0]": lambda u, g, x: np.abs(g) * bound(u, x, d(x)),
    }


def _fresnel(name):
    """TensorFlow takes the sine and cosine of π x² / 2 as rounded: that is off by u x², to begin with."""
    f = PAIRS[name].f
    return {
        "output[0]": lambda u, g, x: u * (8 * np.abs(f(x)) + np.abs(x)) + (np.abs(x) > 36974) / (3 * np.abs(x)),
        "grad[0]": lambda u, g, x: np.abs(g) * np.minimum(2, u * (4 + 8 * x * x)),
    }


#: Where the error grows with the argument: a bound for it in the terms of what TensorFlow computes.
_BOUNDS = {
    **{name: _grad_bound(name, lambda x, f, d: 4 * d * d) for name in ("acos", "asin")},  # 1 - x², rounded, below √
    "acosh": _grad_bound("acosh", lambda x, f, d: 4 + 4 * f * x * d),  # g / sinh(y): y, rounded, is off by u y
    "asinh": _grad_bound("asinh", lambda x, f, d: 4 + 4 * f),  # g / cosh(y)
    "atanh": _grad_bound("atanh", lambda x, f, d: 4 + 2 * x * x * d),  # g / (1 - x²): x², rounded, is off by u x²
    # i1e(x) - sign(x) i0e(x)
    "bessel-i0e": _grad_bound("bessel-i0e", lambda x, f, d: np.where(np.abs(x) > 1e15, 4, 10 + 10 * f / d)),
    "bessel-i1": _grad_bound("bessel-i1", lambda x, f, d: 8 + 16 * f / d / np.abs(x)),  # i0(x) - i1(x) / x
    "bessel-i1e": _grad_bound(
        "bessel-i1e",
        lambda x, f, d: np.where(np.abs(x) > 1e15, 4, 10 + 10 * f / d * (1 + 2 / np.abs(x))),
    ),  # i0e - i1e (sign + 1 / x)
    **{name: _oscillating(name) for name in ("bessel-j0", "bessel-j1", "bessel-y0", "bessel-y1")},
    "bessel-k0e": _grad_bound("bessel-k0e", lambda x, f, d: 12 + 12 * f / d),  # y - k1e(x)
    "bessel-k1e": _grad_bound("bessel-k1e", lambda x, f, d: 8 + 8 * f * (1 + 1 / x) / d),  # y (1 - 1 / x) - k0e(x)
    "cosh": _scaled_exp("cosh"),
    "dawsn": _grad_bound("dawsn", lambda x, f, d: 8 + 8 / d),  # 1 - 2 x y
    # Eigen's comment says so as well: the error is absolute where the value is below 1.
    "digamma": {"output[0]": lambda u, g, x: u * (20 + 8 * np.abs(PAIRS["digamma"].f(x)))},
    "elu": _grad_bound("elu", lambda x, f, d: 2 + 2 / d),  # y + 1
    "erfinv": _grad_bound("erfinv", lambda x, f, d: 4 + 16 * f * f),  # exp(y²)
    # Near its zero, 0.37, terms cancel that are as large as eˣ.
    "expint": {"output[0]": lambda u, g, x: np.where(x < 1, 8 * u * np.exp(x), 0)},
    "fresnel-cos": _fresnel("fresnel-cos"),
    "fresnel-sin": _fresnel("fresnel-sin"),
    "lgamma": _grad_bound("lgamma", lambda x, f, d: 8 + 20 / d),  # digamma
    "ndtri": _grad_bound("ndtri", lambda x, f, d: 4 + 4 * f * f),  # exp(y² / 2)
    "selu": _grad_bound("selu", lambda x, f, d: 2 + 4 / d),  # y + 1
    "erf": _grad_bound("erf", lambda x, f, d: 8 + 2 * x * x),  # exp(-x²): x², rounded, is off by u x²
    "erfc": {
        **_grad_bound("erfc", lambda x, f, d: 8 + 2 * x * x),
        "output[0]": lambda u, g, x: u * PAIRS["erfc"].f(x) * (8 + 2 * x * x),
    },
    "sigmoid": {"grad[0]": lambda u, g, x: 4 * u * np.abs(g)},  # g y (1 - y): y, rounded, is off by u
    "sinh": _scaled_exp("sinh"),
    "tanh": {"grad[0]": lambda u, g, x: 13 * u * np.abs(g)},  # g (1 - y²): y is off by 6 u
}


def _minus_zero(x, top):
    return (x == 0) & np.signbit(x)


def _tiny(x, top):
    return (np.abs(x) * top < 64) & (x != 0)


#: For functions that are defined right of zero, and have a pole there.
_RIGHT_OF_ZERO = {
    "infinite": lambda x, top: np.isinf(x),
    "negative": lambda x, top: (x < 0) & ~np.isinf(x),
    "zero": lambda x, top: x == 0,
}


#: Where the derivative may underflow as well.
_FAR_OUT = {"infinite": lambda x, top: np.isinf(x) | (x > 1e30)}


def _hangs(x):
    """Where the gradient of digamma, a sum of terms between x and 9, takes more than milliseconds."""
    return (x < -1e5) & (x != np.floor(x))


#: name: label: where(x, largest number) inputs are kept out of the other recipes, to be a recipe of their own.
#: They are those for which known.toml has an entry, so that it excuses nothing else.
_ASIDE: dict[str, dict[str, Any]] = {
    "bessel-i0": {"infinite": lambda x, top: np.isinf(x), "minus_zero": _minus_zero},
    "bessel-i0e": {"huge": lambda x, top: np.abs(x) > 1e15},
    "bessel-i1": {
        "infinite": lambda x, top: np.isinf(x),
        "overflow": lambda x, top: (np.abs(x) > np.log(top) + 2) & ~np.isinf(x),
        "zero": lambda x, top: x == 0,
    },
    "bessel-i1e": {"huge": lambda x, top: np.abs(x) > 1e15, "minus_zero": _minus_zero},
    "bessel-j0": {"infinite": lambda x, top: np.isinf(x)},
    "bessel-j1": {"infinite": lambda x, top: np.isinf(x), "tiny": _tiny},
    "bessel-k0": _RIGHT_OF_ZERO,
    "bessel-k0e": {**_RIGHT_OF_ZERO, **_FAR_OUT},
    "bessel-k1": {"tiny": lambda x, top: (x > 0) & _tiny(x, top), **_RIGHT_OF_ZERO},
    "bessel-k1e": {"tiny": lambda x, top: (x > 0) & _tiny(x, top), **_RIGHT_OF_ZERO, **_FAR_OUT},
    "bessel-y0": _RIGHT_OF_ZERO,
    "bessel-y1": _RIGHT_OF_ZERO,
    "dawsn": {
        "huge": lambda x, top: (np.abs(x) >= 1e9) & ~np.isinf(x),
        "infinite": lambda x, top: np.isinf(x),
        "minus_zero": _minus_zero,
    },
    "digamma": {
        "far": lambda x, top: (x < -1000) & ~np.isinf(x) & ~_hangs(x),
        "huge": lambda x, top: (x > np.sqrt(top) / 8) & ~np.isinf(x),
        "infinite": lambda x, top: np.isinf(x),
        "negative": lambda x, top: (x < 0) & (x >= -1000),
        "zero": lambda x, top: x == 0,
    },
    "elu": {"nan": lambda x, top: np.isnan(x), "small": lambda x, top: (x < 0) & (x > -0.5)},
    "erfinv": {
        "log1p": lambda x, top: (x * x > 0.32) & (x * x < 0.42),
        "minus_zero": _minus_zero,
        "near_one": lambda x, top: (np.abs(x) > 0.9) & (np.abs(x) < 1),
        "near_zero": lambda x, top: (np.abs(x) < 0.1) & (x != 0),
        "past_one": lambda x, top: (np.abs(x) > 1) & (np.abs(x) < 1.01),
    },
    "fresnel-cos": {"minus_zero": _minus_zero, "overflow": lambda x, top: x * x > top},
    "fresnel-sin": {"minus_zero": _minus_zero, "overflow": lambda x, top: x * x > top},
    "lgamma": {"middle": lambda x, top: np.abs(x) < 10},
    "ndtri": {
        "below": lambda x, top: (x < 0) & (x > -1e-6),
        "log1p": lambda x, top: ((2 * x - 1) ** 2 > 0.32) & ((2 * x - 1) ** 2 < 0.42),
        "tail": lambda x, top: (x > 0) & (x < 0.01),
        "upper_tail": lambda x, top: (x > 0.95) & (x < 1),
    },
    "selu": {
        "nan": lambda x, top: np.isnan(x),
        "small": lambda x, top: (x < 0) & (x > -0.5),
        "zero": lambda x, top: x == 0,
    },
    "spence": {"huge": lambda x, top: x > top / 4},
}

#: name: (OpDef, dtypes, budget of the output, of the gradient); the functions are in PAIRS. A tuple of budgets is in
#: the order of the dtypes. Where a bound stands in _BOUNDS, either may be kept. Measured with AVX-512, in all modes;
#: over all inputs of float16 and bfloat16, and of float32 for exp and tanh, and else by `bench.budgets`.
#: The scalar form of rsqrt rounds twice in 16 bits: https://github.com/tensorflow/tensorflow/issues/123551.
#: More than 4: what acos, asin, rsqrt and tan divide by, or raise to a power, is itself off by some ULPs; sigmoid's exp
#: is off by |x| / 16; softplus is exp(x) below log(eps) + 2, which is off by eps e² / 2; tanh is a rational function,
#: the worse the nearer to 1;
#: the Bessel functions, erfinv and spence, which are series, as measured.
#: Rounding twice, by way of float32, costs half an ULP and a little.
_TWICE = 0.501
_NO_BF16, _WIDE = ("float16", "float32", "float64"), ("float32", "float64")
_TABLE = {
    "abs": ("Abs", FLOATS, 0, 0),
    "acos": ("Acos", FLOATS, (1.5, 1.5, 4, 1.5), (7.5, 3, 5, 2.5)),
    "acosh": ("Acosh", FLOATS, (3, 2, 2.5, 2), 1),
    "asin": ("Asin", FLOATS, (1.5, 1.5, 4, 1.5), (7.5, 3, 4, 5)),
    "asinh": ("Asinh", FLOATS, (2.5, 1.5, 2.5, 2.5), 1),
    "atan": ("Atan", FLOATS, (_TWICE, _TWICE, 3.5, 3), (2.5, 2.5, 3, 2.5)),
    "atanh": ("Atanh", FLOATS, (2.5, 1.5, 2.5, 1.5), 1),
    "bessel-i0": (
        "BesselI0",
        _NO_BF16,
        (_TWICE, 5, 5),
        (1.5, 16, 11),
    ),  # the derivative is BesselI1, a Chebyshev series
    "bessel-i0e": ("BesselI0e", _NO_BF16, (_TWICE, 5.5, 6), 2),
    "bessel-i1": ("BesselI1", _NO_BF16, (_TWICE, 9, 15), 2),
    "bessel-i1e": ("BesselI1e", _NO_BF16, (_TWICE, 8, 6), 2),
    "bessel-j0": ("BesselJ0", _NO_BF16, 1, 1),
    "bessel-j1": ("BesselJ1", _NO_BF16, 1, 1),
    "bessel-k0": ("BesselK0", _NO_BF16, (_TWICE, 10, 8), 7),
    "bessel-k0e": ("BesselK0e", _NO_BF16, (_TWICE, 11, 9), 2),
    "bessel-k1": ("BesselK1", _NO_BF16, (_TWICE, 6, 6), 6),
    "bessel-k1e": ("BesselK1e", _NO_BF16, (_TWICE, 5, 5.5), 2),
    "bessel-y0": ("BesselY0", _NO_BF16, 1, 1),
    "bessel-y1": ("BesselY1", _NO_BF16, 1, 1),
    "cos": ("Cos", FLOATS, (_TWICE, _TWICE, 1.5, 0.52), (1.5, 1.5, 2, 1.5)),
    "cosh": ("Cosh", FLOATS, 1, 1),
    "dawsn": ("Dawsn", _WIDE, (3.5, 3), 2),
    "digamma": ("Digamma", _NO_BF16, 1, 10.5),
    "elu": ("Elu", FLOATS, (2, 1, 3.5, 3), 2.5),
    "erf": ("Erf", FLOATS, (_TWICE, _TWICE, 4.5, 3), 1),
    "erfc": ("Erfc", FLOATS, 1, 1),
    "erfinv": ("Erfinv", _WIDE, (7, 5), 2),
    "exp": ("Exp", FLOATS, (_TWICE, _TWICE, 1.5, 1.5), (1.5, 1.5, 2.5, 2.5)),
    "expint": ("Expint", _WIDE, 7, (3, 2.5)),
    "expm1": ("Expm1", FLOATS, (2.5, _TWICE, 4, 3), (1.5, 1.5, 2.5, 2)),
    "fresnel-cos": ("FresnelCos", _WIDE, 1, 1),
    "fresnel-sin": ("FresnelSin", _WIDE, 1, 1),
    "inv": ("Inv", FLOATS, (_TWICE, _TWICE, 2, 0.5), (3, 3.5, 6, 3)),
    "leaky-relu": ("LeakyRelu", FLOATS, (1, 1, 0.5, 0.5), (1, 1, 0.5, 0.5)),
    "lgamma": ("Lgamma", _NO_BF16, (_TWICE, 5, 4), 2),
    "log": ("Log", FLOATS, (_TWICE, _TWICE, 3, 1.5), (1.5, 1.5, 2.5, 1.5)),
    "log1p": ("Log1p", FLOATS, (2, _TWICE, 3, 1.5), (2, 2, 3, 2)),
    "ndtri": ("Ndtri", _WIDE, (3.5, 3), 2),
    "neg": ("Neg", FLOATS, 0, 0),
    "reciprocal": ("Reciprocal", FLOATS, (_TWICE, _TWICE, 2, 0.5), (3, 3.5, 6, 3)),
    "relu": ("Relu", FLOATS, 0, 0),
    "relu6": ("Relu6", FLOATS, 0, 0),
    "rsqrt": ("Rsqrt", FLOATS, (1.5, 1, 2, 1.5), (5.5, 4.5, 6.5, 5.5)),
    "selu": ("Selu", FLOATS, (3, 2, 3.5, 3.5), 2),
    "sigmoid": ("Sigmoid", FLOATS, (2, 2, 5.5, 2), 1),
    "sin": ("Sin", FLOATS, (_TWICE, _TWICE, 1.5, 0.52), (1.5, 1.5, 2.5, 1.5)),
    "sinh": ("Sinh", FLOATS, 1, 1),
    "softplus": ("Softplus", FLOATS, (7.5, 7, 7, 7), (3, 2.5, 7, 2.5)),
    "softsign": ("Softsign", FLOATS, (1.5, 1.5, 1.5, 1.5), (3.5, 3.5, 3.5, 3)),
    "spence": ("Spence", _WIDE, (12, 18), 2.5),
    "sqrt": ("Sqrt", FLOATS, 0.5, 2),
    "square": ("Square", FLOATS, 0.5, 0.5),
    "tan": ("Tan", FLOATS, (_TWICE, _TWICE, 1, 1), (4.5, 4.5, 6.5, 4)),
    "tanh": ("Tanh", FLOATS, (_TWICE, _TWICE, 6.5, 4.5), 1),
}


def _ones(x):
    """The bits that are set, of two's complement: NumPy counts those of |x|."""
    return np.bitwise_count(x.view(f"u{x.itemsize}"))


def _none(g, x):
    return None


def _by(budget, dtypes):
    """A budget by dtype, where it differs."""
    return dict(zip(dtypes, budget, strict=True)) if isinstance(budget, tuple) else budget


#: name: (OpDef, reference, dtypes, VJP) of what is exact. An integer has no gradient: the tape does not watch it.
_EXACT: dict[str, tuple[str, Any, tuple[str, ...], Any]] = {
    "abs-integer": ("Abs", np.abs, ("int8", "int16", "int32", "int64"), _none),
    "relu-integer": ("Relu", lambda x: np.maximum(x, 0), INTEGERS, _none),
    "relu6-integer": ("Relu6", lambda x: np.clip(x, 0, 6), INTEGERS, _none),
    "invert": ("Invert", np.invert, INTEGERS, _none),
    "is-finite": ("IsFinite", np.isfinite, FLOATS, None),
    "is-inf": ("IsInf", np.isinf, FLOATS, None),
    "is-nan": ("IsNan", np.isnan, FLOATS, None),
    "logical-not": ("LogicalNot", np.logical_not, ("bool",), None),
    "neg-integer": ("Neg", np.negative, ("int8", "int16", "int32", "int64"), _none),
    "population-count": ("PopulationCount", _ones, INTEGERS, _none),
    "square-integer": ("Square", np.square, INTEGERS, _none),
}
_FEATURES = {"Elu", "LeakyRelu", "Relu", "Relu6", "Selu", "Softplus", "Softsign"}  # whose argument has another name


def _long(function):
    """A function of long doubles."""
    return lambda *arrays: function(*(a.astype(np.longdouble) for a in arrays))


#: A constant, or the square of y, as rounded: the error is that of the larger term of a difference.
_GRAD_BOUNDS = {
    "selu-grad": {"output[0]": lambda u, _, g, y: 2 * u * np.abs(g) * (2 + np.abs(y))},
    "tanh-grad": {"output[0]": lambda u, _, g, y: 2 * u * np.abs(g) * (1 + y * y)},
}

#: name: (OpDef, its first argument, reference(dy, y), budget) of the ops that gradients are made of.
_GRADS: dict[str, tuple[str, str, Any, Any]] = {
    "elu-grad": ("EluGrad", "outputs", _elu_grad, 1.5),
    "inv-grad": ("InvGrad", "y", _long(lambda g, y: -g * y * y), 1.5),
    "leaky-relu-grad": ("LeakyReluGrad", "features", lambda g, x: g * PAIRS["leaky-relu"].d(x), (1, 1, 0.5, 0.5)),
    "reciprocal-grad": ("ReciprocalGrad", "y", _long(lambda g, y: -g * y * y), 1.5),
    "relu-grad": ("ReluGrad", "features", lambda g, x: g * (x > 0), 0),
    "relu6-grad": ("Relu6Grad", "features", lambda g, x: g * ((x > 0) & (x < 6)), 0),
    "rsqrt-grad": ("RsqrtGrad", "y", _long(lambda g, y: -g * y * y * y / 2), 2),
    "selu-grad": ("SeluGrad", "outputs", _selu_grad, 1.5),
    "sigmoid-grad": ("SigmoidGrad", "y", _long(lambda g, y: g * y * (1 - y)), 2),
    "softplus-grad": ("SoftplusGrad", "features", lambda g, x: g * PAIRS["softplus"].d(x), 2),
    "softsign-grad": ("SoftsignGrad", "features", _long(lambda g, x: g / (1 + np.abs(x)) ** 2), 3),
    "sqrt-grad": ("SqrtGrad", "y", _long(lambda g, y: g / 2 / y), 1.5),
    "tanh-grad": ("TanhGrad", "y", _long(lambda g, y: g * (1 - y * y)), 2),
}


def _grad_program(op, name):
    upstream = "dy" if name == "y" else "gradients"
    return lambda tf, g, y: getattr(tf.raw_ops, op)(**{upstream: g, name: y})


def _range(draw, dtype):
    return (draw.values(dtype, 67), draw.uniform(67, low=-9.0, high=9.0).astype(dtype))


def _positive(draw, dtype):
    return tuple(draw.uniform(67, low=low, high=8.0).astype(dtype) for low in (0.25, 0.001))


def _at_edges(draw, dtype):
    """Upstreams away from zero, at those edges of the other argument at which no result is subnormal."""
    g = draw.uniform(SIZE, low=0.5, high=4.0) * np.where(draw.booleans(SIZE), 1, -1)
    (y,) = edges(draw, dtype)
    size = np.abs(y.astype(np.float64))
    risky = (size > 0) & (size < 1e-3) | (size > 4) & ~np.isinf(size)
    return (g.astype(dtype), np.where(risky, np.array(1, dtype), y))


def _program(op):
    name = "features" if op in _FEATURES else "x"
    return lambda tf, x: getattr(tf.raw_ops, op)(**{name: x})


def _aside(name, label):
    return lambda dtype, x: _ASIDE[name][label](x, float(ml_dtypes.finfo(dtype).max))


def _sound(name, recipe):
    """The recipe, less what the comparison can't be strict about, or what is a recipe of its own."""
    pair, aside = PAIRS[name], [_aside(name, label) for label in _ASIDE.get(name, {})]

    def unwanted(dtype, x):
        hangs = (name == "digamma") & _hangs(x)
        return np.any([_lost(pair, dtype, x), hangs, *(where(dtype, x) for where in aside)], axis=0)

    return _without(recipe, unwanted, (1, *pair.domain))


def _beside_one(draw, dtype):
    """Numbers of both signs, at most 1/16 and at least two neighbours away from 1."""
    digits = ml_dtypes.finfo(dtype).nmant + 1
    x = 1 - 2.0 ** -draw.uniform(SIZE, low=4, high=digits - 2)
    return ((x * np.where(draw.booleans(SIZE), 1, -1)).astype(dtype),)


#: name: recipes beside those that _ASIDE takes from the others.
_MORE = {"erfinv": {"beside_one": _beside_one}}


def _recipes(name):
    """The recipes of a spec: what _ASIDE says of its inputs, and the rest."""
    pair = PAIRS[name]
    recipes = {"edges": edges, "bits": bit_patterns, "plain": plain, "domain": domain(*pair.domain)}
    apart = {
        label: _only(recipes.values(), _aside(name, label), lambda dtype, x: _lost(pair, dtype, x))
        for label in _ASIDE.get(name, {})
    }
    return {label: _sound(name, recipe) for label, recipe in recipes.items()} | apart | _MORE.get(name, {})


#: Ops without an XLA kernel: what is compiled as a whole must not have them.
_NO_XLA = {"bessel-i0", "bessel-i1", "dawsn", "expint", "fresnel-cos", "fresnel-sin", "spence"} | {
    f"bessel-{name}" for name in ("j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")
}


def _shaped(*shape):
    """A recipe: for each of the ops, numbers in its domain, of this shape."""
    size = int(np.prod(shape, dtype=int))

    def some(name):
        whole = domain(*PAIRS[name].domain)
        return _sound(name, lambda draw, dtype: (whole(draw, dtype)[0][SIZE - size :].reshape(shape),))

    return lambda names: lambda draw, dtype: tuple(some(name)(draw, dtype)[0] for name in names)


_SHAPES = {"scalar": _shaped(), "matrix": _shaped(3, 5), "empty": _shaped(0, 3), "deep": _shaped(2, 1, 3, 1, 2)}


#: Where a subnormal's result is promised as it is: ops without arithmetic, and expm1, which vector lanes and XLA keep.
_KEPT = {"abs", "expm1", "neg"}
#: Ops whose CPU kernels flush subnormals in whole vectors and keep them in the elements left over, or the other way
#: round, and the dtypes in which they do. The contract allows flushing at every position only: known.toml has these.
_BY_POSITION = {
    "asin": ("float32",),
    "atan": _WIDE,
    "atanh": _WIDE,
    "expm1": ("float32", "bfloat16", "float64"),
    "log": ("float32", "bfloat16"),
    "log1p": ("float32", "bfloat16", "float64"),
    "relu": ("float32", "bfloat16", "float64"),
    "relu6": ("float32", "bfloat16", "float64"),
    "sin": ("float32", "bfloat16"),
}
#: The dtypes in which XLA keeps subnormals, where the kernels' vectors flush them.
_KEPT_BY_XLA = {"atan": ("float32",), "sin": ("float32", "bfloat16")}
#: Where one mode flushes subnormals and another does not.
_FLUSHED_OR_NOT = {
    *("asinh", "bessel-i1", "bessel-i1e", "bessel-j1", "bessel-y1", "dawsn", "digamma", "elu", "erfinv", "expint"),
    *("fresnel-cos", "fresnel-sin", "lgamma", "sinh", "tan", "tanh"),
}


def _flushes(name, dtypes):
    """The side of the CPU, where subnormals are zeros, but for XLA where that keeps them."""
    f = PAIRS[name].f
    side = Side(reference=lambda x: flushed(f(flushed(x))), why=WHY, link=LINK, unless=DENORMALS)
    kept = dtypes == _KEPT_BY_XLA.get(name)
    return dict.fromkeys([f"cpu/{mode}" for mode in ("eager", "function", "graph")] if kept else ["cpu/*"], side)


def _subnormal(name, dtypes, suffix=""):
    op, all_dtypes, output, _ = _TABLE[name]
    return Spec(
        name=f"{name}-subnormal{suffix}",
        ops=op,
        program=_program(op),
        reference=PAIRS[name].f,
        recipes={"subnormals": subnormals},
        dtypes=dtypes,
        unsigned_zeros=("output",) if name in EXTREMES else (),
        ulp={"output": _by(output, all_dtypes)},
        bound={k: v for k, v in _BOUNDS.get(name, {}).items() if k == "output[0]"},
        contract={} if name in _KEPT else _flushes(name, dtypes),
    )


def _subnormals():
    """A spec for each op, and another one for the dtypes for which XLA's side is another one."""
    for name in (name for name in _TABLE if name not in _FLUSHED_OR_NOT):
        dtypes = _BY_POSITION.get(name, ("float32",))
        first = _KEPT_BY_XLA.get(name, dtypes)
        yield _subnormal(name, first)
        for dtype in dtypes:
            if dtype not in first:
                yield _subnormal(name, (dtype,), f"-{dtype}")


def _every_shape(name, names):
    """All ops at once, each with its own input, in shapes other than a vector: compiled once for each."""
    table = [(PAIRS[n], *_TABLE[n]) for n in names]
    programs = [_program(op) for _, op, *_ in table]

    def bounds(quantity):
        found = {i: _BOUNDS.get(n, {}).get(f"{quantity}[0]") for i, n in enumerate(names)}
        return {
            f"{quantity}[{i}]": lambda u, gs, *xs, i=i, bound=bound: bound(u, gs[i], xs[i])
            for i, bound in found.items()
            if bound
        }

    budgets: dict[str, Any] = {}
    for i, (_, _, dtypes, output, grad) in enumerate(table):
        budgets |= {f"output[{i}]": _by(output, dtypes), f"grad[{i}]": _by(grad, dtypes)}
    return Spec(
        name=name,
        ops=";".join(op for _, op, *_ in table),
        program=lambda tf, *xs: tuple(program(tf, x) for program, x in zip(programs, xs, strict=True)),
        reference=lambda *xs: tuple(row[0].f(x) for row, x in zip(table, xs, strict=True)),
        vjp=lambda gs, *xs: tuple(g * row[0].d(x) for row, g, x in zip(table, gs, xs, strict=True)),
        recipes={label: recipe(names) for label, recipe in _SHAPES.items()},
        ulp=budgets,
        bound=bounds("output") | bounds("grad"),
    )


SPECS = (
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op),
            reference=PAIRS[name].f,
            vjp=lambda g, x, d=PAIRS[name].d: g * d(x),
            recipes=_recipes(name),
            dtypes=dtypes,
            ulp={"output": _by(output, dtypes), "grad": _by(grad, dtypes)},
            bound=_BOUNDS.get(name, {}),
            unsigned_zeros=("output",) if name in EXTREMES else (),
            contract=_CONTRACTS.get(name, {}),
            tier="smoke" if name == "exp" else "default",
        )
        for name, (op, dtypes, output, grad) in _TABLE.items()
    ),
    _every_shape("unary-shapes", [n for n in _TABLE if n not in _NO_XLA | {"relu", "relu6"}]),
    _every_shape("unary-shapes-no-xla", [n for n in _TABLE if n in _NO_XLA]),
    *_subnormals(),
    # In float64 there are numbers between integers down to -2**52. XLA, which answers at once, is in digamma's "far".
    Spec(
        name="digamma-far",
        ops="Digamma",
        program=_program("Digamma"),
        reference=PAIRS["digamma"].f,
        vjp=lambda g, x: g * PAIRS["digamma"].d(x),
        recipes={"hang": lambda draw, dtype: (np.round(draw.uniform(3, low=-1e15, high=-1e12)) + 0.5,)},
        dtypes=("float64",),
        modes=("eager", "function", "graph"),
        ulp={"output": 2, "grad": 10.5},
        tier="full",
    ),
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op),
            reference=reference,
            vjp=vjp,
            recipes={"edges": edges, "bits": bit_patterns, "plain": plain, "matrix": matrix},
            dtypes=dtypes,
        )
        for name, (op, reference, dtypes, vjp) in _EXACT.items()
    ),
    *(
        Spec(
            name=name,
            ops=op,
            program=_grad_program(op, first),
            reference=reference,
            recipes={"edges": _at_edges, "positive": _positive, "range": _range},
            dtypes=FLOATS,
            ulp={"output": _by(budget, FLOATS)},
            bound=_GRAD_BOUNDS.get(name, {}),
            contract=_CONTRACTS.get(name, {}),
        )
        for name, (op, first, reference, budget) in _GRADS.items()
    ),
)
