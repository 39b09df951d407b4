"""Rectifiers: activation functions of straight lines."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.elementwise.gradient_op import gradient_op
from tf_opdiff.suites.forms.elementwise.integers import one_integer
from tf_opdiff.suites.forms.elementwise.subnormal import Subnormals
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.promises.wide import NAN, Wide

_RELU_OP = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/relu_op.cc"
_SELECTED = "XLA selects g or +0, where the kernels multiply by 0, which keeps the sign of g"


def _selects(function):
    """XLA's side of the gradient of relu and relu6: a zero where f' is zero, not g times zero."""

    def vjp(g, x):
        return np.where(function.df(x) == 0, 0.0, g)

    return {"*/xla": Side(reference=function.f, vjp=vjp, why=_SELECTED, link=_RELU_OP)}


def _selects_where(condition):
    """XLA's side of ReluGrad and Relu6Grad."""
    return {"*/xla": Side(reference=lambda g, x: np.where(condition(x), g, 0.0), why=_SELECTED, link=_RELU_OP)}


#: LeakyRelu's default, as the op's attribute holds it: a float32.
_SLOPE = float(np.float32(0.2))
_LEAKY_SLOPE = Wide(lambda x: 1 if x > 0 else _SLOPE, {NAN: _SLOPE}, float64=lambda x: np.where(x > 0, 1, _SLOPE))

SPECS = (
    *op(
        "leaky-relu",
        "LeakyRelu",
        f=Wide(lambda x: x if x > 0 else x * _SLOPE, odd=True, float64=lambda x: np.where(x > 0, x, x * _SLOPE)),
        df=Wide(lambda x: 1 if x > 0 else _SLOPE, {NAN: _SLOPE}, float64=lambda x: np.where(x > 0, 1, _SLOPE)),
        ulp={"output": (1, 0.8, 0.5, 0.5), "grad": (1, 0.8, 0.5, 0.5)},
        second_order=SecondOrder(jvp=1, linear=True),
    ),
    *op(
        "leaky-relu-grad",
        "LeakyReluGrad",
        gradient_op(lambda g, x: g * _LEAKY_SLOPE(x), ulp=(1, 1, 0.5, 0.5), flat=True),
    ),
    *op(
        "relu",
        "Relu",
        one_integer(lambda x: np.maximum(x, 0)),
        f=Wide(lambda x: max(x, 0), float64=lambda x: np.where(x <= 0, 0, x)),
        df=Wide(lambda x: 1 if x > 0 else 0, {NAN: 0}, float64=lambda x: np.where(x > 0, 1.0, 0.0)),
        ulp={"output": 0, "grad": 0},
        contract=_selects,
        unsigned_zeros=True,
        subnormals=Subnormals(dtypes=("float32", "bfloat16", "float64")),
        second_order=SecondOrder(linear=True),
    ),
    *op(
        "relu-grad",
        "ReluGrad",
        gradient_op(
            lambda g, x: g * (x > 0), integers=True, ulp=0, contract=_selects_where(lambda x: x > 0), flat=True
        ),
    ),
    *op(
        "relu6",
        "Relu6",
        one_integer(lambda x: np.clip(x, 0, 6)),
        f=Wide(lambda x: min(max(x, 0), 6), float64=lambda x: np.where(x <= 0, 0, np.where(x >= 6, 6, x))),
        df=Wide(lambda x: 1 if 0 < x < 6 else 0, {NAN: 0}, float64=lambda x: ((x > 0) & (x < 6)).astype(float)),
        domain=(-1, 7),
        ulp={"output": 0, "grad": 0},
        contract=_selects,
        unsigned_zeros=True,
        subnormals=Subnormals(dtypes=("float32", "bfloat16", "float64")),
        second_order=SecondOrder(linear=True),
    ),
    *op(
        "relu6-grad",
        "Relu6Grad",
        gradient_op(
            lambda g, x: g * ((x > 0) & (x < 6)),
            integers=True,
            ulp=0,
            contract=_selects_where(lambda x: (x > 0) & (x < 6)),
            flat=True,
        ),
    ),
)
