"""Hyperbolic functions and their inverses.

Budgets are measured with AVX-512, in all modes: over every float16, bfloat16 and float32, and else by `bench.budgets`.
"""

import numpy as np

from tf_opdiff.harness.spec.tolerances.by_mode import by_mode, mapped
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.bounds import absolute, relative
from tf_opdiff.suites.forms.elementwise.analytic import Analytic, from_output, near_pole
from tf_opdiff.suites.forms.elementwise.gradient_op import ComplexGradient, gradient_op, in_long_double
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER, Subnormals
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE, WIDE
from tf_opdiff.suites.reference.elementwise import annex_g
from tf_opdiff.suites.reference.elementwise import complex as complex_ref
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp


def _exponential_of_a_sum(own, of_gradient):
    """Bounds of cosh and sinh, which are each other's derivative; in units of round-off, in addition to |x| under XLA.

    XLA computes exp(x + log 1/2): rounding that sum costs |x| / 2 ULP and more. Measured over all float32 from 2^-12 to
    90: 2.93 units in eager mode, next to overflow; under XLA 2.01 + |x| for cosh and 7.87 + |x| for sinh.
    """

    def within(eager, xla):
        return by_mode(eager=relative(lambda x, f, d: eager), xla=relative(lambda x, f, d: xla + np.abs(x)))

    return {"output": within(3, own), "grad": within(4, 1 + of_gradient)}


def _from_output(ulps):
    """The gradient of acosh is g / sinh(y), where y, rounded, is off by u y."""
    return relative(lambda x, f, d: ulps * (1 + f * x * d))


def _tanh_units(u):
    """Twice the error of tanh in float32 and float64, in units of round-off."""
    return 10.8 if u > 2.0**-30 else 13


def _square_of_sech(x):
    e = np.exp(-2 * np.abs(x))
    return 4 * e / (1 + e) ** 2


#: The error of the gradient of tanh in units of its larger term.
_TANH = by_mode(eager=6, xla=12)


def _one_less_square(f, df):
    """The gradient is g (1 - y²). Measured: 5 units of the larger term, and 11.5 under XLA."""
    return {"grad[0]": mapped(lambda units: lambda u, g, z: units * u * np.abs(g) * (1 + np.abs(f(z)) ** 2), _TANH)}


def _saturated(z):
    """Where 1 - y² loses digits."""
    return np.abs(z.real) > 1


SPECS = (
    *op(
        "acosh",
        "Acosh",
        f=Wide(mp.acosh, float64=np.arccosh),
        df=Wide(
            lambda x: 1 / mp.sqrt(x * x - 1) if x >= 1 else NAN,
            {1: INF},
            float64=lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),
        ),
        domain=(1, 100),
        ulp={"output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 2.1, 2.2), xla=(3, 2, 4.4, 4.1)), "grad": 1},
        bound={"grad": by_mode(eager=_from_output(2.3), xla=_from_output(4.4))},
        lost=(
            Lost(
                where=lambda x: x > 16,
                span=(1e3, 1e36),
                dtypes=("bfloat16",),
                reason="the gradient is g / sinh(y), where y, rounded, is off by u y",
            ),
        ),
        second_order=SecondOrder(jvp=8, hvp=20),
        analytic=Analytic(
            special=annex_g.ACOSH,
            f=complex_ref.acosh,
            df=lambda z: 1 / mp.sqrt(z - 1) / mp.sqrt(z + 1),
            output=by_mode(eager=4, xla=3),
            grad=8,
            bound=from_output,
        ),
    ),
    *op(
        "asinh",
        "Asinh",
        f=Wide(mp.asinh, odd=True, float64=np.arcsinh),
        df=Wide(lambda x: 1 / mp.sqrt(1 + x * x), float64=lambda x: 1 / np.sqrt(1 + x * x)),
        ulp={"output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 1.8, 1.75), xla=(2.5, 1.5, 3.2, 2.7)), "grad": 1},
        bound={"grad": by_mode(eager=relative(lambda x, f, d: 2.2 + 2.2 * f), xla=relative(lambda x, f, d: 3 + 3 * f))},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 16,
                span=(1e3, 1e36),
                dtypes=("bfloat16",),
                reason="the gradient is g / cosh(y), where y, rounded, is off by u y",
            ),
        ),
        subnormals=EITHER,
        second_order=SecondOrder(jvp=4.5, hvp=10),
        analytic=Analytic(
            special=annex_g.ASINH,
            f=mp.asinh,
            df=lambda z: 1 / complex_ref.root(mp.j * z),
            output=by_mode(eager=4, xla=3.5),
            grad=6,
            bound=from_output,
        ),
    ),
    *op(
        "atanh",
        "Atanh",
        f=Wide(mp.atanh, {1: INF, -1: -INF}, odd=True, float64=np.arctanh),
        df=Wide(lambda x: 1 / (1 - x * x), {1: INF, -1: INF, INF: -0.0, -INF: -0.0}, float64=lambda x: 1 / (1 - x * x)),
        domain=(-1, 1),
        ulp={"output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 1.8, 2.3), xla=(2.5, 1.5, 3, 2.6)), "grad": 1},
        # The gradient is g / (1 - x²), where x², rounded, is off by u x².
        bound={"grad": relative(lambda x, f, d: 3 + 1.5 * (x * (x * d)))},
        subnormals=Subnormals(dtypes=WIDE),
        second_order=SecondOrder(jvp=8, hvp=14),
        analytic=Analytic(
            special=annex_g.ATANH,
            f=complex_ref.atanh,
            df=lambda z: 1 / (1 - z * z),
            output=4.5,
            grad=8,
            at_poles=np.arctanh,
            bound=near_pole,
        ),
    ),
    *op(
        "cosh",
        "Cosh",
        f=Wide(mp.cosh, float64=np.cosh),
        df=Wide(mp.sinh, odd=True, float64=np.sinh),
        domain=(-90, 90),
        ulp={"output": 1, "grad": 1},
        bound=_exponential_of_a_sum(3, 8),
        second_order=SecondOrder(condition=(4, 5)),
        analytic=Analytic(special=annex_g.COSH, f=mp.cosh, df=mp.sinh, output=by_mode(eager=3, xla=4), grad=4.5),
    ),
    *op(
        "sinh",
        "Sinh",
        f=Wide(mp.sinh, odd=True, float64=np.sinh),
        df=Wide(mp.cosh, float64=np.cosh),
        domain=(-90, 90),
        ulp={"output": 1, "grad": 1},
        bound=_exponential_of_a_sum(8, 3),
        subnormals=EITHER,
        second_order=SecondOrder(condition=(4, 5)),
        analytic=Analytic(
            special=annex_g.SINH, f=mp.sinh, df=mp.cosh, output=by_mode(eager=3, xla=5), grad=by_mode(eager=3.6, xla=4)
        ),
    ),
    *op(
        "tanh",
        "Tanh",
        f=Wide(mp.tanh, odd=True, float64=np.tanh),
        df=Wide(lambda x: 1 / mp.cosh(x) ** 2, {INF: 0, -INF: 0}, float64=_square_of_sech),
        # The kernel is a rational function, the worse the nearer to 1.
        ulp={
            "output": by_mode(
                eager=(ROUNDED_TWICE, ROUNDED_TWICE, 6.5, 7.6), xla=(ROUNDED_TWICE, ROUNDED_TWICE, 6.5, 6.6)
            ),
            "grad": 1,
        },
        # y is off by 6 u, or in 16 bits by u / 2: so is 1 - y², however small it is.
        # In float64, y is 1 from 17.7 on, and 7.4 u off there.
        bound={"grad": absolute(lambda u, x, y: u * (2 if u > 2.0**-12 else 2 + _tanh_units(u) * (1 - y)))},
        lost=(
            Lost(
                where=lambda x: np.abs(x) > 1,
                span=(5.0, 40.0),
                reason="the gradient is g (1 - y²), which cancels for a rounded y near 1",
            ),
        ),
        subnormals=EITHER,
        # y is itself off by 4 ULPs.
        second_order=SecondOrder(
            condition=(4, 5),
            flat=lambda x: 16 * np.abs(np.tanh(x)),
            loose=Loose(lambda x: np.abs(x) > 1, "the derivatives have the factor 1 - y² of a rounded y near 1"),
        ),
        analytic=Analytic(
            special=annex_g.TANH,
            f=mp.tanh,
            df=lambda z: 1 / mp.cosh(z) ** 2,
            output=5,
            grad=4,
            bound=_one_less_square,
            loose=Loose(_saturated, "the gradient is g (1 - y²), which cancels for a rounded y near 1"),
        ),
    ),
    *op(
        "tanh-grad",
        "TanhGrad",
        gradient_op(
            in_long_double(lambda g, y: g * (1 - y * y)),
            ulp=2,
            complex=ComplexGradient(reference=lambda g, y: g * (1 - y * y), size=lambda g, y: g * (1 + y * y)),
            # y², rounded: the error is that of the larger term of the difference.
            bound=lambda u, _, g, y: 2 * u * np.abs(g) * (1 + y * y),
            slope=lambda y: -2 * y,
            curve=lambda y: np.full_like(y, -2),
        ),
    ),
)
