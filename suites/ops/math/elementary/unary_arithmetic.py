"""Arithmetic with one number: sign, reciprocal, root, square.

Budgets are measured with AVX-512, in all modes: over every float16, bfloat16 and float32, and else by `bench.budgets`.
"""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.elementwise.analytic import Analytic
from tf_opdiff.suites.forms.elementwise.gradient_op import ComplexGradient, gradient_op, in_long_double
from tf_opdiff.suites.forms.elementwise.integers import one_integer
from tf_opdiff.suites.forms.elementwise.subnormal import Subnormals
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE
from tf_opdiff.suites.reference.elementwise import annex_g
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp

_OPENXLA_SIGN = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.sign.html"
_ZERO = (
    "the gradient is g sign(x), and stablehlo.sign, from which GPU kernels are generated as well, keeps a zero's sign"
)


def _keeps_signs_of_zeros(function):
    """The sides of abs: at a zero, the derivative is that zero."""
    side = Side(
        reference=function.f, vjp=lambda g, x: g * np.where(x == 0, x, function.df(x)), why=_ZERO, link=_OPENXLA_SIGN
    )
    return {"*/xla": side, "gpu/*": side}


def _rsqrt_slope(x):
    root = 1 / np.sqrt(x)
    return -0.5 * root * root * root


_POLE = {0.0: INF, INF: 0.0, -INF: -0.0}
#: Inv is the old name of Reciprocal.
_RECIPROCAL: dict[str, Any] = {
    "f": Wide(lambda x: 1 / x, _POLE, odd=True, float64=np.reciprocal),
    "df": Wide(lambda x: -1 / x**2, {0: -INF, INF: -0.0, -INF: -0.0}, float64=lambda x: -1 / (x * x)),
    "domain": (0, 4),
    "ulp": {
        "output": (ROUNDED_TWICE, ROUNDED_TWICE, by_mode(eager=2.9, xla=1.3), 0.5),
        "grad": (3, 3.5, by_mode(eager=7.1, xla=6), 3),
    },
    "second_order": SecondOrder(jvp=6, hvp=9),
    "analytic": Analytic(
        special=annex_g.RECIPROCAL,
        f=lambda z: 1 / z,
        df=lambda z: -1 / z**2,
        output=by_mode(eager=2.7, xla=1.6),
        grad=5.5,
    ),
}
#: The gradients of reciprocals and roots take the conjugate themselves; those of sigmoid and tanh are handed it.
_RECIPROCAL_GRAD = gradient_op(
    in_long_double(lambda g, y: -g * y * y),
    ulp=1.5,
    complex=ComplexGradient(reference=lambda g, y: -g * np.conj(y * y), size=lambda g, y: g * y * y),
    slope=lambda y: -2 * y,
    curve=lambda y: np.full_like(y, -2),
)

SPECS = (
    *op(
        "abs",
        "Abs",
        one_integer(np.abs),
        f=Wide(abs, float64=np.abs),
        df=Wide(mp.sign, float64=np.sign),
        ulp={"output": 0, "grad": 0},
        contract=_keeps_signs_of_zeros,
        subnormals=Subnormals(preserved=True),
        second_order=SecondOrder(linear=True),
    ),
    *op("inv", "Inv", **_RECIPROCAL),
    *op("inv-grad", "InvGrad", _RECIPROCAL_GRAD),
    *op(
        "neg",
        "Neg",
        one_integer(np.negative),
        f=Wide(lambda x: -x, {0: -0.0}, odd=True, float64=np.negative),
        df=Wide(lambda x: -1, {NAN: -1}, float64=lambda x: np.full_like(x, -1)),
        ulp={"output": 0, "grad": 0},
        subnormals=Subnormals(preserved=True),
        second_order=SecondOrder(unconnected=True),
        analytic=Analytic(special=annex_g.NEGATIVE, f=lambda z: -z, df=lambda z: mp.mpc(-1), output=0, grad=0),
    ),
    *op("reciprocal", "Reciprocal", **_RECIPROCAL),
    *op("reciprocal-grad", "ReciprocalGrad", _RECIPROCAL_GRAD),
    *op(
        "rsqrt",
        "Rsqrt",
        f=Wide(lambda x: 1 / mp.sqrt(x), {0: INF, -INF: NAN}, odd=True, float64=lambda x: 1 / np.sqrt(x)),
        df=Wide(lambda x: -mp.sqrt(x) / x**2 / 2, {0: -INF, INF: -0.0, -INF: NAN}, odd=True, float64=_rsqrt_slope),
        domain=(0, 4),
        # The scalar form rounds twice in 16 bits: https://github.com/tensorflow/tensorflow/issues/123551.
        # The gradient raises a rounded number to a power.
        ulp={
            "output": (1.5, 1, by_mode(eager=2.2, xla=2), 1.5),
            "grad": (5.5, 4.5, by_mode(eager=10.3, xla=9.5), by_mode(eager=6.3, xla=5.7)),
        },
        second_order=SecondOrder(jvp=8, hvp=12),
        analytic=Analytic(
            special=annex_g.RSQRT,
            f=lambda z: 1 / mp.sqrt(z),
            df=lambda z: -1 / (2 * z * mp.sqrt(z)),
            output=by_mode(eager=4.5, xla=3.5),
            grad=12.5,
        ),
    ),
    *op(
        "rsqrt-grad",
        "RsqrtGrad",
        gradient_op(
            in_long_double(lambda g, y: -g * y * y * y / 2),
            ulp=2,
            complex=ComplexGradient(
                reference=lambda g, y: -g * np.conj(y * y * y) / 2, size=lambda g, y: g * y * y * y / 2
            ),
            slope=lambda y: -1.5 * y * y,
            curve=lambda y: -3 * y,
        ),
    ),
    *op(
        "sqrt",
        "Sqrt",
        f=Wide(mp.sqrt, {-INF: NAN}, odd=True, float64=np.sqrt),
        df=Wide(lambda x: 1 / (2 * mp.sqrt(x)), {0: INF, -INF: NAN}, odd=True, float64=lambda x: 0.5 / np.sqrt(x)),
        domain=(0, 4),
        ulp={"output": 0.5, "grad": 2},
        second_order=SecondOrder(jvp=2.5, hvp=6),
        analytic=Analytic(
            special=annex_g.SQRT, f=mp.sqrt, df=lambda z: 1 / (2 * mp.sqrt(z)), output=by_mode(eager=2.2, xla=4), grad=4
        ),
    ),
    *op(
        "sqrt-grad",
        "SqrtGrad",
        gradient_op(
            in_long_double(lambda g, y: g / 2 / y),
            ulp=1.5,
            complex=ComplexGradient(reference=lambda g, y: g / 2 / np.conj(y), size=lambda g, y: g / y / 2),
            slope=lambda y: -0.5 / (y * y),
            curve=lambda y: 1 / (y * y * y),
        ),
    ),
    *op(
        "square",
        "Square",
        one_integer(np.square),
        f=Wide(lambda x: x * x, float64=np.square),
        df=Wide(lambda x: 2 * x, odd=True, float64=lambda x: 2 * x),
        ulp={"output": 0.5, "grad": 0.5},
        second_order=SecondOrder(jvp=0.5, hvp=0.5),
        analytic=Analytic(special=annex_g.SQUARE, f=lambda z: z * z, df=lambda z: 2 * z, output=2, grad=2),
    ),
)
