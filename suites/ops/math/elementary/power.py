"""Powers and logarithms of two arguments."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.hessian import POINTS, Hessian
from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.bounds import by_dtype
from tf_opdiff.suites.forms.elementwise.binary import (
    UPSTREAMS,
    Instead,
    broadcast,
    floats,
    hard_pairs_of,
    pairs_of,
    products,
    summed,
)
from tf_opdiff.suites.forms.elementwise.complex import complex_numbers
from tf_opdiff.suites.forms.elementwise.complex_special import special_powers, special_products, special_quotients
from tf_opdiff.suites.forms.elementwise.flushed import branching, either
from tf_opdiff.suites.forms.elementwise.integers import (
    SIGNED,
    changed_bits,
    extreme_negative_exponents,
    huge_exponents,
    integers,
    negative_exponents,
    small_exponents,
)
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together
from tf_opdiff.suites.forms.recipes.pairs import edge_values, normal, replaced, within
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.complex_power import logarithm1p
from tf_opdiff.suites.reference.elementwise.conventions import power_dy
from tf_opdiff.suites.reference.elementwise.division import over, quotient_dy
from tf_opdiff.suites.reference.elementwise.power import (
    exponent_error,
    power_dx,
    power_dxdy,
    power_dxdy_of_logarithm,
    whole_reciprocal_power,
)
from tf_opdiff.suites.reference.promises.function import Function, unless, wide, x_zero
from tf_opdiff.suites.reference.promises.subnormal import flushed_in
from tf_opdiff.suites.reference.promises.wide import mp

_CWISE_OPS = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/cwise_ops.h"
_LARGE_ERROR = Loose(lambda x, y: exponent_error(x, y) > 2, "the error of the exponent is most digits of 16 bits")
_NO_ERROR = "where no error can be raised, the power of what is neither 1 nor -1 is 0"

_POWER = Function(
    f=wide(np.power), partials=(wide(power_dx), wide(power_dy)), exact=mp.power, domain=((0.01, 20.0), (-8.0, 8.0))
)
#: Budgets of the output, by dtype.
_POWER_ULP = (0.51, 0.51, 1.5, 2.5)

_POWER_CURVES = Hessian(
    terms={
        (0, 0): [wide(lambda x, y: np.where((y == 0) | (y == 1), 0, y * (y - 1) * np.power(x, y - 2)))],
        (0, 1): [wide(power_dxdy), wide(power_dxdy_of_logarithm)],
        (1, 1): [wide(lambda x, y: power_dy(x, y) * np.log(np.where(x > 0, x, 1)))],
    },
    function=_POWER,
    jvp=4,
    hvp=4.5,
    # The exponent, rounded after 1 or 2 is subtracted from it, is multiplied by the logarithm.
    growth=lambda x, y: 1 + exponent_error(x, y),
    loose=dict.fromkeys(("grad[0]", "jvp", "hvp"), _LARGE_ERROR),
    # For x < 0 no derivative by y exists.
    points=((0.0, 0.5, 1.0, 2.0, np.inf, np.nan), POINTS),
)


def _overflow(dtype, x, y):
    """Whether x^y times an upstream overflows."""
    return np.isfinite(x) & np.isfinite(y) & (np.abs(np.power(x, y)) > float(ml_dtypes.finfo(dtype).max) / 4)


def _powers(draw, dtype):
    """Edge values to small powers, whole and half."""
    powers = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
    x, y = np.meshgrid(edge_values(draw, dtype), np.array(powers).astype(dtype))
    return x.ravel(), y.ravel()


def _power_bound(u, g, x, y):
    """Rounding y - 1 costs |(y - 1) log x| / 2 ULP."""
    terms = np.abs(g * wide(power_dx)(x, y)) * (6 + np.abs((y - 1) * np.log(np.abs(np.where(x == 0, 1, x)))))
    return u * unbroadcast(terms, x.shape)


def _zero_x(draw, dtype):
    """Zeros of both signs with every edge value, repeated so that they fill vectors and a tail."""
    y = edge_values(draw, dtype)
    x = np.resize(np.array([0.0, -0.0], dtype), 2 * y.size)
    return np.resize(x, 121), np.resize(np.repeat(y, 2), 121)


def _x_is_zero(dtype, x, y):
    return x == 0


def _x_counts_as_zero(dtype, x, y):
    return flushed_in(dtype, x) == 0


def _zero_at_zero(function, ulp, hessian):
    """A part: a function that is 0 for x = 0, whatever y is; values and gradients there have recipes of their own."""
    zeros = {"reference": function, "dtypes": FLOATS, "ulp": {"grad[0]": 3}}
    away = dict.fromkeys(("exponents", "underflow", "huge", "upstreams"), _x_counts_as_zero)
    own: dict[str, Any] = {
        "instead": (Instead(_x_is_zero, 1, 2),),
        "alternatives": branching(either(function, products)),
    }
    return together(
        floats(function, ulp=ulp, hard_without=away, hessian=hessian, **own),
        part("-zeros", recipes={"zeros": _zero_x}, **zeros),
        part("-zeros-gradient", vjp=products(function), recipes={"zeros": within((0.0, 0.0), (0.1, 0.9))}, **zeros),
    )


def _at_zero(draw, dtype):
    """Pairs whose x is 0, next to which the function is not flat: TensorFlow's gradient by x is 0 there."""
    return np.zeros(201, dtype), draw.uniform(201, low=0.1, high=0.9).astype(dtype)


def _curves(mixed, twice, jvp, hvp):
    """The second derivatives of a function that is 0 for x = 0: by x and y, and by y and y."""
    return Hessian(
        terms={(0, 1): [wide(mixed)], (1, 1): [unless(x_zero, twice)]},
        jvp=jvp,
        hvp=hvp,
        points=(POINTS[2:], POINTS),
        recipes={"at_zero": _at_zero},
    )


_XDIVY = Function(f=unless(x_zero, np.divide), partials=(over, unless(x_zero, quotient_dy)), exact=lambda x, y: x / y)
_XLOG1PY = Function(
    f=unless(x_zero, lambda x, y: x * np.log1p(y)),
    partials=(wide(lambda x, y: np.log1p(y)), unless(x_zero, lambda x, y: x / (1 + y))),
    exact=lambda x, y: x * mp.log1p(y),
    domain=((-4.0, 4.0), (-0.9, 4.0)),
)
_XLOGY = Function(
    f=unless(x_zero, lambda x, y: x * np.log(y)),
    partials=(wide(lambda x, y: np.log(y)), unless(x_zero, np.divide)),
    exact=lambda x, y: x * mp.log(y),
    domain=((-4.0, 4.0), (0.1, 4.0)),
)

SPECS = (
    *op(
        "pow",
        "Pow",
        part(
            positions=True,
            every_input=True,
            recipes={**pairs_of(_POWER, gradient=False), **hard_pairs_of(_POWER, gradient=False)},
            alternatives=branching(either(_POWER)),
            dtypes=FLOATS,
            ulp={"output": by_dtype(_POWER_ULP, FLOATS)},
        ),
        part(
            "-gradient",
            vjp=products(_POWER),
            recipes={
                "domain": normal(replaced(within(*_POWER.domain), _overflow, 2, 3), _POWER),
                "powers": normal(replaced(_powers, _overflow, 2, 3), _POWER),
                **hard_pairs_of(_POWER, (Instead(_overflow, 2, 3),)),
            },
            upstreams=UPSTREAMS,
            alternatives=branching(either(_POWER, products)),
            dtypes=FLOATS,
            ulp={"output": by_dtype(_POWER_ULP, FLOATS), "grad[0]": 0.5, "grad[1]": 3},
            bound={"grad[0]": _power_bound},
            sizes=True,
            hessian=_POWER_CURVES,
        ),
        broadcast(
            _POWER,
            products(_POWER),
            output=_POWER_ULP,
            domain=((0.5, 3.0), (-2.0, 2.0)),  # small gradients: a wrong 1 shows
            bound=summed(_POWER.partials, 60),
        ),
        incompatible(),
        integers(np.power, recipes={"bits": changed_bits(small_exponents), "extremes": huge_exponents}),
        part(
            "-negative",
            reference=raises("INVALID_ARGUMENT", "negative integer powers are not allowed"),
            recipes={"negative": negative_exponents, "extremes": extreme_negative_exponents},
            dtypes=SIGNED,
            contract=dict.fromkeys(
                ("*/xla", "gpu/*"), Side(reference=whole_reciprocal_power, why=_NO_ERROR, link=_CWISE_OPS)
            ),
        ),
        complex_numbers(  # a complex number has a logarithm on either side of zero
            replace(_POWER, partials=(wide(power_dx), wide(lambda x, y: np.power(x, y) * np.log(x)))),
            output=32,
            grad=32,
        ),
        special_powers(8),
        reference=_POWER,
    ),
    *op(
        "xdivy",
        "Xdivy",
        _zero_at_zero(
            _XDIVY,
            {"output": 0.5, "grad": 2.5},
            _curves(lambda x, y: -1 / y / y, lambda x, y: 2 * x / y / y / y, jvp=3.6, hvp=7.6),
        ),
        complex_numbers(_XDIVY, output=4, grad=6, zero=0),
        special_quotients(4, zero=0),
    ),
    *op(
        "xlog1py",
        "Xlog1py",
        _zero_at_zero(
            _XLOG1PY,
            {"output": (2.5, 1.5, 3, by_mode(eager=3.8, xla=2.5)), "grad": (2.5, 2, 3.5, 3.5)},
            _curves(lambda x, y: 1 / (1 + y), lambda x, y: -x / (1 + y) / (1 + y), jvp=5.2, hvp=7),
        ),
        complex_numbers(_XLOG1PY, output=5, grad=6, zero=0),
        special_products(6, zero=0, factors=lambda x, y: (x, logarithm1p(y))),
    ),
    *op(
        "xlogy",
        "Xlogy",
        _zero_at_zero(
            _XLOGY,
            {"output": (1.5, 1.5, by_mode(eager=4.1, xla=2.5), by_mode(eager=2.9, xla=2.5)), "grad": (1.5, 1.5, 2, 2)},
            _curves(lambda x, y: 1 / y, lambda x, y: -x / y / y, jvp=4.2, hvp=5),
        ),
        complex_numbers(_XLOGY, output=6, grad=6, zero=0),
        special_products(6, zero=0, factors=lambda x, y: (x, np.log(y))),
    ),
)
