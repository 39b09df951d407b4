"""Smooth activation functions.

Budgets are measured with AVX-512, in all modes: over every float16 and bfloat16, and else by `bench.budgets`.
"""

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import relative
from tf_opdiff.suites.forms.elementwise.gradient_op import gradient_op, in_long_double
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.regions import nan, zero
from tf_opdiff.suites.reference.elementwise.complex import logistic
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp

_ELU_OP = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/elu_op.cc"
_NAN = "XLA takes the exponential branch unless the output is above 0, so that the gradient at NaN is NaN"


def _nan_at_nan(function):
    """XLA's side of elu and selu."""

    def vjp(g, x):
        return g * np.where(np.isnan(x), x, function.df(x))

    return {"*/xla": Side(reference=function.f, vjp=vjp, why=_NAN, link=_ELU_OP)}


def _nan_at_nan_of(gradient):
    """XLA's side of EluGrad and SeluGrad."""
    return {"*/xla": Side(reference=lambda g, y: np.where(np.isnan(y), y, gradient(g, y)), why=_NAN, link=_ELU_OP)}


def _elu_grad(g, y):
    """`gradients * (outputs + 1)` if outputs < 0, `gradients` otherwise, also at NaN."""
    return np.where(y < 0, g * (y + 1), g)


#: Klambauer et al., https://arxiv.org/abs/1706.02515
_ALPHA, _SCALE = mp.mpf("1.67326324235437728481704297"), mp.mpf("1.05070098735548049341933498529")


def _selu_grad(g, y):
    """In terms of the output: y + scale × alpha left of 0, scale elsewhere."""
    scale, alpha = np.longdouble(float(_SCALE)), np.longdouble(float(_ALPHA))
    return g * np.where(y < 0, y + scale * alpha, scale)


def _softplus(x):
    return np.where(x > 0, x, 0) + np.log1p(np.exp(-np.abs(x)))


_SOFTPLUS_SLOPE = Wide(logistic, float64=special.expit)

SPECS = (
    *op(
        "elu",
        "Elu",
        f=Wide(lambda x: x if x > 0 else mp.expm1(x), odd=True, float64=lambda x: np.where(x > 0, x, np.expm1(x))),
        df=Wide(lambda x: 1 if x >= 0 else mp.exp(x), {NAN: 1}, float64=lambda x: np.where(x < 0, np.exp(x), 1)),
        ulp={"output": (2, 1, by_mode(eager=3.5, xla=6), by_mode(eager=3, xla=4.9)), "grad": 2.5},
        bound={"grad": relative(lambda x, f, d: 2 + 2 / d)},
        lost=(Lost(where=lambda x: x < -2, span=(-9.0, -64.0), reason="the gradient is g (y + 1), which cancels"),),
        aside={"nan": nan, "small": lambda x, top: (x < 0) & (x > -0.5)},
        contract=_nan_at_nan,
        subnormals=EITHER,
        second_order=ExactCurve(
            curve=Wide(lambda x: mp.exp(x) if x < 0 else mp.zero, {INF: 0, -INF: 0}),
            condition=(4, 4),
            lost=lambda x: x < -2,
        ),
    ),
    *op(
        "elu-grad",
        "EluGrad",
        gradient_op(_elu_grad, ulp=1.5, contract=_nan_at_nan_of(_elu_grad), slope=lambda y: np.where(y < 0, 1.0, 0.0)),
    ),
    *op(
        "selu",
        "Selu",
        f=Wide(
            lambda x: _SCALE * (x if x > 0 else _ALPHA * mp.expm1(x)),
            odd=True,
            float64=lambda x: float(_SCALE) * np.where(x > 0, x, float(_ALPHA) * np.expm1(x)),
        ),
        df=Wide(
            lambda x: _SCALE * (1 if x >= 0 else _ALPHA * mp.exp(x)),
            {NAN: float(_SCALE)},
            float64=lambda x: float(_SCALE) * np.where(x < 0, float(_ALPHA) * np.exp(x), 1),
        ),
        ulp={"output": (3, 2, by_mode(eager=3.5, xla=6.6), by_mode(eager=3.5, xla=5.3)), "grad": 2},
        bound={"grad": relative(lambda x, f, d: 2 + 4 / d)},
        lost=(
            Lost(
                where=lambda x: x < -2,
                span=(-9.0, -64.0),
                reason="the gradient is g (y + scale × alpha), which cancels",
            ),
        ),
        aside={"nan": nan, "small": lambda x, top: (x < 0) & (x > -0.5), "zero": zero},
        contract=_nan_at_nan,
        second_order=ExactCurve(
            curve=Wide(lambda x: _SCALE * _ALPHA * mp.exp(x) if x < 0 else mp.zero, {INF: 0, -INF: 0}),
            condition=(4, 4),
            lost=lambda x: x < -2,
        ),
    ),
    *op(
        "selu-grad",
        "SeluGrad",
        gradient_op(
            _selu_grad,
            ulp=1.5,
            # Left of 0, the error is that of the larger term of the sum.
            bound=lambda u, _, g, y: 2 * u * np.abs(g) * np.where(y < 0, 2 + np.abs(y), 1),
            contract=_nan_at_nan_of(_selu_grad),
            slope=lambda y: np.where(y < 0, 1.0, 0.0),
        ),
    ),
    *op(
        "softplus",
        "Softplus",
        f=Wide(lambda x: mp.log1p(mp.exp(x)), {INF: INF}, float64=_softplus),
        df=Wide(logistic, float64=special.expit),
        domain=(-90, 20),
        # Below log(eps) + 2 the kernel computes exp(x), which is off by eps e² / 2.
        ulp={
            "output": by_mode(eager=(1.5, 7, 7, 8), xla=(7.5, 7, 7.7, 8)),
            "grad": by_mode(eager=(3, 2.5, 9.2, 3.4), xla=(3, 2.5, 2.9, 2.5)),
        },
        second_order=SecondOrder(
            condition=(4, 5),
            flat=lambda x: 4 * special.expit(x),
            loose=Loose(lambda x: x > 0, "the second derivative is y (1 - y) of a rounded sigmoid y near 1"),
        ),
    ),
    *op(
        "softplus-grad",
        "SoftplusGrad",
        gradient_op(
            lambda g, x: g * _SOFTPLUS_SLOPE(x),
            ulp=2,
            slope=lambda x: _SOFTPLUS_SLOPE(x) * _SOFTPLUS_SLOPE(-x),
            curve=lambda x: _SOFTPLUS_SLOPE(x) * _SOFTPLUS_SLOPE(-x) * (1 - 2 * _SOFTPLUS_SLOPE(x)),
        ),
    ),
    *op(
        "softsign",
        "Softsign",
        f=Wide(lambda x: x / (1 + abs(x)), {INF: NAN, -INF: NAN}, odd=True, float64=lambda x: x / (1 + np.abs(x))),
        df=Wide(lambda x: 1 / (1 + abs(x)) ** 2, float64=lambda x: 1 / (1 + np.abs(x)) ** 2),
        ulp={"output": (1.5, 1.5, 1.5, 1.5), "grad": (3.5, 3.5, 3.5, 3)},
        second_order=SecondOrder(jvp=3.5, hvp=6),
    ),
    *op("softsign-grad", "SoftsignGrad", gradient_op(in_long_double(lambda g, x: g / (1 + np.abs(x)) ** 2), ulp=3)),
)
