"""Unary elementwise ops: value and derivative against mpmath, budgets in ULPs by dtype."""

from typing import Any

import ml_dtypes
import numpy as np

from harness.inputs import FLOATS, INTEGERS, bit_patterns, edges, matrix, plain
from harness.spec import Side, Spec
from suites.references.elementwise import PAIRS


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


def normal(recipe, pair):
    """The recipe, less what has a subnormal result or gradient: that is flushed or not, as the plan does it.

    Nor are there derivatives that overflow but for a small upstream: they are computed before they meet it.
    """

    def tamed(draw, dtype):
        (x,) = recipe(draw, dtype)
        info, wide = ml_dtypes.finfo(dtype), x.astype(np.float64)
        least, tiny, top = (float(v) for v in (info.smallest_subnormal, info.smallest_normal, info.max))
        f, d = np.abs(pair.f(wide)), np.abs(pair.d(wide))
        lost = (
            ((f > least / 4) & (f < 1.01 * tiny))
            | ((d > least / 16) & (d < 4 * tiny))
            | ((d > top / 4) & (d < 4 * top))
        )
        return (np.where(lost, np.array(1, dtype), x),)

    return tamed


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


_CONTRACTS = {
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


#: Where the error grows with the argument: a bound for it in the terms of what TensorFlow computes.
_BOUNDS = {
    "acosh": _grad_bound("acosh", lambda x, f, d: 4 + 4 * f * x * d),  # g / sinh(y): y, rounded, is off by u y
    "asinh": _grad_bound("asinh", lambda x, f, d: 4 + 4 * f),  # g / cosh(y)
    "atanh": _grad_bound("atanh", lambda x, f, d: 4 + 2 * x * x * d),  # g / (1 - x²): x², rounded, is off by u x²
    "cosh": _scaled_exp("cosh"),
    "erf": _grad_bound("erf", lambda x, f, d: 8 + 2 * x * x),  # exp(-x²): x², rounded, is off by u x²
    "erfc": {
        **_grad_bound("erfc", lambda x, f, d: 8 + 2 * x * x),
        "output[0]": lambda u, g, x: u * PAIRS["erfc"].f(x) * (8 + 2 * x * x),
    },
    "sigmoid": {"grad[0]": lambda u, g, x: 4 * u * np.abs(g)},  # g y (1 - y): y, rounded, is off by u
    "sinh": _scaled_exp("sinh"),
    "tanh": {"grad[0]": lambda u, g, x: 13 * u * np.abs(g)},  # g (1 - y²): y is off by 6 u
}

#: name: (OpDef, dtypes, budget of the output, of the gradient); the functions are in PAIRS. A tuple of budgets is in
#: the order of the dtypes. Where a bound stands in _BOUNDS, either may be kept. Measured with AVX-512, in all modes;
#: over all inputs of float16 and bfloat16, and of float32 for exp and tanh.
#: More than 4: what acos, asin, rsqrt and tan divide by, or raise to a power, is itself off by some ULPs; sigmoid's exp
#: is off by |x| / 16; softplus is exp(x) below log(eps) + 2, which is off by eps e² / 2; tanh is a rational function,
#: the worse the nearer to 1.
#: Rounding twice, by way of float32, costs half an ULP and a little.
_TWICE = 0.501
_NO_BF16, _WIDE = ("float16", "float32", "float64"), ("float32", "float64")
_TABLE = {
    "abs": ("Abs", FLOATS, 0, 0),
    "acos": ("Acos", FLOATS, (1.5, 1.5, 2.5, 1), (7.5, 3, 5, 2.5)),
    "acosh": ("Acosh", FLOATS, (3, 2, 1.5, 1), 1),
    "asin": ("Asin", FLOATS, (1.5, 1.5, 3, 1), (7.5, 3, 4, 5)),
    "asinh": ("Asinh", FLOATS, (2.5, 1.5, 2, 2), 1),
    "atan": ("Atan", FLOATS, (_TWICE, _TWICE, 2.5, 2), (2.5, 2.5, 2.5, 2)),
    "atanh": ("Atanh", FLOATS, (2.5, 1.5, 1.5, 1.5), 1),
    "bessel-i0": (
        "BesselI0",
        _NO_BF16,
        (_TWICE, 4, 4),
        (1.5, 10, 6),
    ),  # the derivative is BesselI1, by Chebyshev series
    "cos": ("Cos", FLOATS, (_TWICE, _TWICE, 1, 0.5), (1.5, 1.5, 1, 1.5)),
    "cosh": ("Cosh", FLOATS, 1, 1),
    "erf": ("Erf", FLOATS, (_TWICE, _TWICE, 4, 2), 1),
    "erfc": ("Erfc", FLOATS, 1, 1),
    "exp": ("Exp", FLOATS, (_TWICE, _TWICE, 1.5, 1.5), (1.5, 1.5, 2.5, 1.5)),
    "expint": ("Expint", _WIDE, 5, 1.5),
    "expm1": ("Expm1", FLOATS, (2.5, _TWICE, 3, 2.5), 1.5),
    "leaky-relu": ("LeakyRelu", FLOATS, (1, 1, 0.5, 0.5), (1, 1, 0.5, 0.5)),
    "log": ("Log", FLOATS, (_TWICE, _TWICE, 2, 1), (1.5, 1.5, 2, 1.5)),
    "log1p": ("Log1p", FLOATS, (2, _TWICE, 2.5, 1.5), (2, 2, 2, 1.5)),
    "neg": ("Neg", FLOATS, 0, 0),
    "reciprocal": ("Reciprocal", FLOATS, (_TWICE, _TWICE, 1.5, 0.5), (3, 3.5, 3, 2.5)),
    "relu": ("Relu", FLOATS, 0, 0),
    "relu6": ("Relu6", FLOATS, 0, 0),
    "rsqrt": ("Rsqrt", FLOATS, (1.5, 1, 1.5, 1.5), (5.5, 4, 4, 5)),
    "sigmoid": ("Sigmoid", FLOATS, (2, 2, 5, 1.5), 1),
    "sin": ("Sin", FLOATS, (_TWICE, _TWICE, 1.5, 0.5), (1.5, 1.5, 1.5, 1.5)),
    "sinh": ("Sinh", FLOATS, 1, 1),
    "softplus": ("Softplus", FLOATS, (7.5, 7, 6, 6), (3, 2.5, 5, 2)),
    "softsign": ("Softsign", FLOATS, (1.5, 1.5, 1.5, 1), (3.5, 3, 2.5, 2)),
    "sqrt": ("Sqrt", FLOATS, 0.5, 2),
    "square": ("Square", FLOATS, 0.5, 0.5),
    "tan": ("Tan", FLOATS, (_TWICE, _TWICE, 1, 1), (4, 4.5, 5, 3)),
    "tanh": ("Tanh", FLOATS, (_TWICE, _TWICE, 6.5, 2.5), 1),
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
    "invert": ("Invert", np.invert, INTEGERS, _none),
    "is-finite": ("IsFinite", np.isfinite, FLOATS, None),
    "is-inf": ("IsInf", np.isinf, FLOATS, None),
    "is-nan": ("IsNan", np.isnan, FLOATS, None),
    "logical-not": ("LogicalNot", np.logical_not, ("bool",), None),
    "neg-integer": ("Neg", np.negative, ("int8", "int16", "int32", "int64"), _none),
    "population-count": ("PopulationCount", _ones, INTEGERS, _none),
    "square-integer": ("Square", np.square, INTEGERS, _none),
}
_FEATURES = {"LeakyRelu", "Relu", "Relu6", "Softplus", "Softsign"}  # whose argument has another name


def _long(function):
    """A function of long doubles."""
    return lambda *arrays: function(*(a.astype(np.longdouble) for a in arrays))


#: name: (OpDef, its first argument, reference(dy, y), budget) of the ops that gradients are made of.
_GRADS: dict[str, tuple[str, str, Any, Any]] = {
    "inv-grad": ("InvGrad", "y", _long(lambda g, y: -g * y * y), 1.5),
    "leaky-relu-grad": ("LeakyReluGrad", "features", lambda g, x: g * PAIRS["leaky-relu"].d(x), (1, 1, 0.5, 0.5)),
    "reciprocal-grad": ("ReciprocalGrad", "y", _long(lambda g, y: -g * y * y), 1.5),
    "relu-grad": ("ReluGrad", "features", lambda g, x: g * (x > 0), 0),
    "relu6-grad": ("Relu6Grad", "features", lambda g, x: g * ((x > 0) & (x < 6)), 0),
    "rsqrt-grad": ("RsqrtGrad", "y", _long(lambda g, y: -g * y * y * y / 2), 2),
    "sigmoid-grad": ("SigmoidGrad", "y", _long(lambda g, y: g * y * (1 - y)), 2),
    "softplus-grad": ("SoftplusGrad", "features", lambda g, x: g * PAIRS["softplus"].d(x), 2),
    "softsign-grad": ("SoftsignGrad", "features", _long(lambda g, x: g / (1 + np.abs(x)) ** 2), 3),
    "sqrt-grad": ("SqrtGrad", "y", _long(lambda g, y: g / 2 / y), 1.5),
}


def _grad_program(op, name):
    upstream = "dy" if name == "y" else "gradients"
    return lambda tf, g, y: getattr(tf.raw_ops, op)(**{upstream: g, name: y})


def _range(draw, dtype):
    return (draw.values(dtype, 67), draw.uniform(67, low=-9.0, high=9.0).astype(dtype))


def _positive(draw, dtype):
    return tuple(draw.uniform(67, low=low, high=8.0).astype(dtype) for low in (0.25, 0.001))


def _program(op):
    name = "features" if op in _FEATURES else "x"
    return lambda tf, x: getattr(tf.raw_ops, op)(**{name: x})


def _recipes(pair):
    recipes = {"edges": edges, "bits": bit_patterns, "plain": plain, "domain": domain(*pair.domain)}
    return {name: normal(recipe, pair) for name, recipe in recipes.items()}


SPECS = (
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op),
            reference=PAIRS[name].f,
            vjp=lambda g, x, d=PAIRS[name].d: g * d(x),
            recipes=_recipes(PAIRS[name]),
            dtypes=dtypes,
            ulp={"output": _by(output, dtypes), "grad": _by(grad, dtypes)},
            bound=_BOUNDS.get(name, {}),
            contract=_CONTRACTS.get(name, {}),
            tier="smoke" if name == "exp" else "default",
        )
        for name, (op, dtypes, output, grad) in _TABLE.items()
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
            recipes={"positive": _positive, "range": _range},
            dtypes=FLOATS,
            ulp={"output": _by(budget, FLOATS)},
            contract=_CONTRACTS.get(name, {}),
        )
        for name, (op, first, reference, budget) in _GRADS.items()
    ),
)
