"""Trigonometric functions and their inverses.

Budgets are measured with AVX-512, in all modes: over every float16, bfloat16 and float32, and else by `bench.budgets`.
"""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.derived.second_order import SecondOrder
from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.bounds import by_dtype, relative
from tf_opdiff.suites.forms.elementwise.analytic import Analytic, near_branch_point, near_pole
from tf_opdiff.suites.forms.elementwise.binary import UPSTREAMS, broadcast, hard_pairs_of, pairs_of, products, summed
from tf_opdiff.suites.forms.elementwise.flushed import branching, either
from tf_opdiff.suites.forms.elementwise.subnormal import EITHER, Subnormals
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import many, normal
from tf_opdiff.suites.forms.unary import ROUNDED_TWICE, WIDE
from tf_opdiff.suites.reference.elementwise import annex_g
from tf_opdiff.suites.reference.elementwise import complex as complex_ref
from tf_opdiff.suites.reference.promises.function import Function, wide
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide, mp

_OUTSIDE = {INF: NAN, -INF: NAN}

_ATAN2 = Function(
    f=wide(np.arctan2),
    partials=(wide(lambda y, x: x / (x * x + y * y)), wide(lambda y, x: -y / (x * x + y * y))),
    exact=mp.atan2,
)
_ATAN2_CURVES = Hessian(
    function=_ATAN2,
    terms={
        (0, 0): [wide(lambda y, x: -2 * x * y / (x * x + y * y) ** 2)],
        (0, 1): [wide(lambda y, x: y * y / (x * x + y * y) ** 2), wide(lambda y, x: -x * x / (x * x + y * y) ** 2)],
        (1, 1): [wide(lambda y, x: 2 * x * y / (x * x + y * y) ** 2)],
    },
    jvp=4,
    hvp=14,
)
#: Budgets of the output, by dtype.
_ATAN2_ULP = (0.51, 0.51, by_mode(eager=4.6, xla=3.5), by_mode(eager=5, xla=3.5))


def _atan2_gradient(suffix="", *, hard=False, **recipes):
    """A part: both gradients; with `hard`, also of pairs at which kernels often fail, and second order."""
    return part(
        f"-gradient{suffix}",
        positions=hard,
        hessian=_ATAN2_CURVES if hard else None,
        vjp=products(_ATAN2),
        recipes={
            **{name: normal(recipe, _ATAN2) for name, recipe in recipes.items()},
            **(hard_pairs_of(_ATAN2) if hard else {}),
        },
        upstreams=UPSTREAMS if hard else {},
        alternatives=branching(either(_ATAN2, products)),
        dtypes=FLOATS,
        ulp={"output": by_dtype(_ATAN2_ULP, FLOATS), "grad": 2.5},
    )


def _scaled(exponent):
    """A recipe: numbers whose squares leave the range, which they and their reciprocals do not."""

    def recipe(draw, dtype):
        scale = 2.0 ** int(0.6 * getattr(ml_dtypes.finfo(dtype), exponent))
        return tuple((scale * draw.uniform(67, low=0.5, high=4.0)).astype(dtype) for _ in "yx")

    return recipe


SPECS = (
    *op(
        "acos",
        "Acos",
        f=Wide(mp.acos, float64=np.arccos),
        df=Wide(
            lambda x: -1 / mp.sqrt(1 - x * x),
            {1: -INF, -1: -INF, **_OUTSIDE},
            float64=lambda x: -1 / np.sqrt(1 - x * x),
        ),
        domain=(-1, 1),
        # The gradient divides by a rounded number, or squares one.
        ulp={
            "output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 4.4, 1), xla=(1.5, 1.5, 2.4, 1.5)),
            "grad": (7.5, 3, 5, 2.5),
        },
        # The gradient is g / √(1 - x²), where x², rounded, is off by u / 2 near 1.
        bound={"grad": relative(lambda x, f, d: 6 + d * d / 2)},
        second_order=SecondOrder(jvp=5, hvp=15),
        analytic=Analytic(
            special=annex_g.ACOS,
            f=mp.acos,
            df=lambda z: -1 / complex_ref.root(z),
            output=by_mode(eager=4, xla=3),
            grad=6,
            bound=near_branch_point,
        ),
    ),
    *op(
        "asin",
        "Asin",
        f=Wide(mp.asin, odd=True, float64=np.arcsin),
        df=Wide(
            lambda x: 1 / mp.sqrt(1 - x * x), {1: INF, -1: INF, **_OUTSIDE}, float64=lambda x: 1 / np.sqrt(1 - x * x)
        ),
        domain=(-1, 1),
        # The gradient divides by a rounded number, or squares one.
        ulp={
            "output": by_mode(eager=(ROUNDED_TWICE, ROUNDED_TWICE, 4.7, 1), xla=(1.5, 1.5, 2.4, 1.7)),
            "grad": (7.5, 3, 4, 5),
        },
        # The gradient is g / √(1 - x²), where x², rounded, is off by u / 2 near 1.
        bound={"grad": relative(lambda x, f, d: 6 + d * d / 2)},
        subnormals=Subnormals(dtypes=("float32",)),
        second_order=SecondOrder(jvp=5, hvp=15),
        analytic=Analytic(
            special=annex_g.ASIN,
            f=mp.asin,
            df=lambda z: 1 / complex_ref.root(z),
            output=by_mode(eager=4.5, xla=4),
            grad=6,
            bound=near_branch_point,
        ),
    ),
    *op(
        "atan",
        "Atan",
        f=Wide(mp.atan, odd=True, float64=np.arctan),
        df=Wide(lambda x: 1 / (1 + x * x), float64=lambda x: 1 / (1 + x * x)),
        ulp={
            "output": (ROUNDED_TWICE, ROUNDED_TWICE, by_mode(eager=4.6, xla=1.7), by_mode(eager=4.3, xla=3)),
            "grad": (2.5, 2.5, by_mode(eager=4.2, xla=3), by_mode(eager=2.8, xla=2.5)),
        },
        subnormals=Subnormals(dtypes=WIDE, preserved_by_xla=("float32",)),
        second_order=SecondOrder(jvp=3.5, hvp=7),
        analytic=Analytic(
            special=annex_g.ATAN,
            f=complex_ref.atan,
            df=lambda z: 1 / (1 + z * z),
            output=by_mode(eager=4, xla=3.5),
            grad=9,
            at_poles=np.arctan,
            bound=near_pole,
        ),
    ),
    *op(
        "atan2",
        "Atan2",
        part(
            positions=True,
            every_input=True,
            recipes={**pairs_of(_ATAN2, gradient=False), **hard_pairs_of(_ATAN2, gradient=False)},
            alternatives=branching(either(_ATAN2)),
            dtypes=FLOATS,
            ulp={"output": by_dtype(_ATAN2_ULP, FLOATS)},
        ),
        _atan2_gradient(hard=True, plain=many(plain)),
        _atan2_gradient("-large", large=_scaled("maxexp")),
        _atan2_gradient("-small", small=_scaled("minexp")),
        broadcast(_ATAN2, products(_ATAN2), output=_ATAN2_ULP, domain=_ATAN2.domain, bound=summed(_ATAN2.partials, 5)),
        incompatible(),
        reference=_ATAN2,
    ),
    *op(
        "cos",
        "Cos",
        f=Wide(mp.cos, _OUTSIDE, float64=np.cos),
        df=Wide(lambda x: -mp.sin(x), {0: -0.0, **_OUTSIDE}, odd=True, float64=lambda x: -np.sin(x)),
        ulp={
            "output": (ROUNDED_TWICE, ROUNDED_TWICE, by_mode(eager=2.6, xla=1.5), 0.59),
            "grad": (1.5, 1.5, by_mode(eager=3.3, xla=2), 1.5),
        },
        second_order=SecondOrder(jvp=2.5, hvp=2.5),
        analytic=Analytic(
            special=annex_g.COS,
            f=mp.cos,
            df=lambda z: -mp.sin(z),
            output=by_mode(eager=3, xla=4),
            grad=by_mode(eager=3.5, xla=7),
        ),
    ),
    *op(
        "sin",
        "Sin",
        f=Wide(mp.sin, _OUTSIDE, odd=True, float64=np.sin),
        df=Wide(mp.cos, _OUTSIDE, float64=np.cos),
        ulp={
            "output": (ROUNDED_TWICE, ROUNDED_TWICE, by_mode(eager=2.6, xla=1.5), 0.52),
            "grad": (1.5, 1.5, by_mode(eager=3.3, xla=2.5), 1.5),
        },
        subnormals=Subnormals(dtypes=("float32", "bfloat16"), preserved_by_xla=("float32", "bfloat16")),
        second_order=SecondOrder(jvp=2.5, hvp=2.5),
        analytic=Analytic(
            special=annex_g.SIN, f=mp.sin, df=mp.cos, output=by_mode(eager=3, xla=7), grad=by_mode(eager=3.5, xla=6)
        ),
    ),
    *op(
        "tan",
        "Tan",
        f=Wide(mp.tan, _OUTSIDE, odd=True, float64=np.tan),
        df=Wide(lambda x: mp.sec(x) ** 2, _OUTSIDE, float64=lambda x: 1 / np.cos(x) ** 2),
        domain=(-1.5, 1.5),
        # The gradient divides by a rounded number, or squares one.
        ulp={"output": (ROUNDED_TWICE, ROUNDED_TWICE, 1.55, 1), "grad": (4.5, 4.5, by_mode(eager=10.2, xla=6.5), 4)},
        subnormals=EITHER,
        second_order=SecondOrder(jvp=8, hvp=11),
        analytic=Analytic(
            special=annex_g.TAN,
            f=mp.tan,
            df=lambda z: 1 / mp.cos(z) ** 2,
            output=by_mode(eager=5, xla=10),
            grad=by_mode(eager=8.5, xla=11),
        ),
    ),
)
