"""Exponentials and logarithms, and the logistic function.

Budgets are measured with AVX-512: over every float16 and bfloat16 in all modes, over every float32 in eager mode and
under XLA, and else by `bench.budgets`.
"""

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import absolute
from tf_opdiff.suites.forms.elementwise.analytic import Analytic
from tf_opdiff.suites.forms.elementwise.gradient_op import ComplexGradient, gradient_op, in_long_double
from tf_opdiff.suites.forms.elementwise.subnormal import Subnormals
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE
from tf_opdiff.suites.reference.elementwise import annex_g
from tf_opdiff.suites.reference.elementwise import complex as complex_ref
from tf_opdiff.suites.reference.promises.wide import INF, Wide, mp


def _near_pole_of_sigmoid(f, df):
    """The denominator of 1 / (1 + exp(-z)) cancels near π i; the gradient is y (1 - y). Measured: 2.3."""

    def output(u, g, z):
        return 2.7 * u * np.abs(f(z)) * (1 + np.abs(1 - f(z)))

    def gradient(u, g, z):
        y = f(z)
        return np.abs(g) * (2.7 * u * np.abs(y) * (1 + np.abs(y)) + np.abs(1 - 2 * y) * output(u, g, z))

    return {"output[0]": output, "grad[0]": gradient}


def _logistic_slope(x):
    """The derivative of the logistic function, of float64."""
    e = np.exp(-np.abs(x))
    return e / (1 + e) ** 2


SPECS = (
    *op(
        "exp",
        "Exp",
        f=Wide(mp.exp, float64=np.exp),
        df=Wide(mp.exp, float64=np.exp),
        domain=(-90, 90),
        ulp={"output": (ROUNDED_TWICE, ROUNDED_TWICE, 1.5, 1.8), "grad": (1.5, 1.5, 2.5, 2.7)},
        second_order=SecondOrder(jvp=2.5, hvp=2.5),
        tier="smoke",
        analytic=Analytic(special=annex_g.EXP, f=mp.exp, df=mp.exp, output=3, grad=4),
    ),
    *op(
        "expm1",
        "Expm1",
        f=Wide(mp.expm1, {-INF: -1}, odd=True, float64=np.expm1),
        df=Wide(mp.exp, float64=np.exp),
        domain=(-20, 90),
        ulp={
            "output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 4.9, 3.6), xla=(2.5, ROUNDED_TWICE, 6.2, 4.5)),
            "grad": (1.5, 1.5, 2.5, 2.6),
        },
        subnormals=Subnormals(dtypes=("float32", "bfloat16", "float64"), preserved=True),
        second_order=SecondOrder(jvp=2.5, hvp=3),
        analytic=Analytic(
            special=annex_g.EXPM1, f=complex_ref.expm1, df=mp.exp, output=by_mode(eager=4.5, xla=6), grad=4
        ),
    ),
    *op(
        "log",
        "Log",
        f=Wide(mp.log, {0: -INF}, float64=np.log),
        df=Wide(lambda x: 1 / x, {0.0: INF, INF: 0.0, -INF: -0.0}, odd=True, float64=np.reciprocal),
        domain=(0, 4),
        ulp={
            "output": (ROUNDED_TWICE, ROUNDED_TWICE, by_mode(eager=3.5, xla=1.5), 1.6),
            "grad": (1.5, 1.5, by_mode(eager=3.8, xla=2.5), 1.5),
        },
        subnormals=Subnormals(dtypes=("float32", "bfloat16")),
        second_order=SecondOrder(jvp=3, hvp=6),
        analytic=Analytic(
            special=annex_g.LOG,
            f=mp.log,
            df=lambda z: 1 / z,
            output=by_mode(eager=4, xla=5.5),
            grad=3.5,
            at_poles=np.log,
        ),
    ),
    *op(
        "log1p",
        "Log1p",
        f=Wide(mp.log1p, {-1: -INF}, odd=True, float64=np.log1p),
        df=Wide(lambda x: 1 / (1 + x), {-1: INF, -INF: -0.0}, float64=lambda x: 1 / (1 + x)),
        domain=(-1, 4),
        ulp={
            "output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 4.8, 2.6), xla=(2, ROUNDED_TWICE, 3, 2.1)),
            "grad": (2, 2, by_mode(eager=3.8, xla=3), 2),
        },
        subnormals=Subnormals(dtypes=("float32", "bfloat16", "float64")),
        second_order=SecondOrder(jvp=3, hvp=6),
        analytic=Analytic(
            special=annex_g.LOG1P,
            f=complex_ref.log1p,
            df=lambda z: 1 / (1 + z),
            output=by_mode(eager=3.8, xla=6),
            grad=3.5,
            at_poles=np.log1p,
        ),
    ),
    *op(
        "sigmoid",
        "Sigmoid",
        f=Wide(complex_ref.logistic, float64=special.expit),
        df=Wide(lambda x: complex_ref.logistic(x) * complex_ref.logistic(-x), float64=_logistic_slope),
        domain=(-90, 20),
        # The exponential is off by |x| / 16.
        ulp={"output": by_mode(eager=(2, 2, 6.6, 2.5), xla=(2, 2, 2.5, 2.5)), "grad": 1},
        # 1 - y is off by u where y, rounded, is, however small it is.
        bound={"grad": absolute(lambda u, x, y: u * (12 * y + 2 * special.expit(x) ** 2))},
        lost=(
            Lost(
                where=lambda x: x > 0,
                span=(9.0, 64.0),
                reason="the gradient is g y (1 - y), where 1 - y of a rounded y cancels",
            ),
        ),
        second_order=SecondOrder(
            condition=(4, 5),
            flat=lambda x: 4 * special.expit(x),
            loose=Loose(lambda x: x > -0.01, "the derivatives have factors 1 - y and 1 - 2 y of a rounded y"),
        ),
        analytic=Analytic(
            special=annex_g.LOGISTIC,
            f=complex_ref.logistic,
            df=lambda z: complex_ref.logistic(z) * complex_ref.logistic(-z),
            output=2.7,
            grad=4,
            bound=_near_pole_of_sigmoid,
            loose=Loose(lambda z: z.real > 1, "the gradient has the factor 1 - y of a rounded y near 1"),
        ),
    ),
    *op(
        "sigmoid-grad",
        "SigmoidGrad",
        gradient_op(
            in_long_double(lambda g, y: g * y * (1 - y)),
            ulp=2,
            complex=ComplexGradient(reference=lambda g, y: g * y * (1 - y), size=lambda g, y: g * y * (1 + y)),
            slope=lambda y: 1 - 2 * y,
            slope_size=lambda y: 1 + 2 * np.abs(y),
            curve=lambda y: np.full_like(y, -2),
        ),
    ),
)
