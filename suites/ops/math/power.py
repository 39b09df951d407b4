"""Powers and logarithms of two arguments."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.binary import (
    Instead,
    broadcast,
    floats,
    pairs_of,
    summed,
    vjp_of,
)
from tf_opdiff.suites.forms.complex import complex_numbers
from tf_opdiff.suites.forms.errors import incompatible, raises
from tf_opdiff.suites.forms.integers import SIGNED, changed_bits, integers
from tf_opdiff.suites.forms.op import op, part, together
from tf_opdiff.suites.forms.pairs import edge_values, normal, replaced, within
from tf_opdiff.suites.forms.unary import by_dtype
from tf_opdiff.suites.reference.division import over, quotient_dy
from tf_opdiff.suites.reference.function import Function, unless, wide, x_zero
from tf_opdiff.suites.reference.power import power_dx, power_dy, whole_reciprocal_power
from tf_opdiff.suites.reference.wide import mp

_CWISE_OPS = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/cwise_ops.h"
_NO_ERROR = "where no error can be raised, the power of what is neither 1 nor -1 is 0"

_POWER = Function(
    f=wide(np.power), partials=(wide(power_dx), wide(power_dy)), exact=mp.power, domain=((0.01, 20.0), (-8.0, 8.0))
)
#: Budgets of the output, by dtype.
_POWER_ULP = (0.51, 0.51, 1.5, 2.5)


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
    return u * np.abs(g * wide(power_dx)(x, y)) * (6 + np.abs((y - 1) * np.log(np.abs(np.where(x == 0, 1, x)))))


def _exponents(draw, dtype, x, y):
    """Small exponents, none of them negative."""
    return x, draw.integers(x.size, low=0, high=12).astype(dtype)


def _negative(draw, dtype):
    """Bases 0, 1, -1 and others, to negative powers."""
    x = np.resize(np.array([0, 1, -1, 2, -3, 7], dtype), 67)
    return x, -draw.integers(67, low=1, high=6).astype(dtype)


def _zero_x(draw, dtype):
    """Zeros of both signs with every edge value, repeated so that they fill vectors and a tail."""
    y = edge_values(draw, dtype)
    x = np.resize(np.array([0.0, -0.0], dtype), 2 * y.size)
    return np.resize(x, 121), np.resize(np.repeat(y, 2), 121)


def _zero_at_zero(function, ulp):
    """A part: a function that is 0 for x = 0, whatever y is; values and gradients there have specs of their own."""
    zeros = {"reference": function, "dtypes": FLOATS, "ulp": {"grad[0]": 3}}
    near_zero = within((0.0, 0.0), (0.1, 0.9))
    return together(
        floats(function, ulp=ulp, instead=(Instead(lambda dtype, x, y: x == 0, 1, 2),)),
        part("-zeros", recipes={"zeros": _zero_x}, **zeros),
        part("-zeros-gradient", vjp=vjp_of(function), recipes={"zeros": near_zero}, **zeros),
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
            recipes=pairs_of(_POWER, gradient=False),
            dtypes=FLOATS,
            ulp={"output": by_dtype(_POWER_ULP, FLOATS)},
        ),
        part(
            "-gradient",
            vjp=vjp_of(_POWER),
            recipes={
                "domain": normal(replaced(within(*_POWER.domain), _overflow, 2, 3), _POWER),
                "powers": normal(replaced(_powers, _overflow, 2, 3), _POWER),
            },
            dtypes=FLOATS,
            ulp={"output": by_dtype(_POWER_ULP, FLOATS), "grad[0]": 0.5, "grad[1]": 3},
            bound={"grad[0]": _power_bound},
        ),
        broadcast(
            _POWER,
            vjp_of(_POWER),
            output=_POWER_ULP,
            domain=((0.5, 3.0), (-2.0, 2.0)),  # small gradients: a wrong 1 shows
            bound=summed(_POWER.partials, 60),
        ),
        incompatible(),
        integers(np.power, dtypes=SIGNED, recipes={"bits": changed_bits(_exponents)}),
        part(
            "-negative",
            reference=raises("INVALID_ARGUMENT", "negative integer powers are not allowed"),
            recipes={"negative": _negative},
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
        reference=_POWER,
    ),
    *op(
        "xdivy",
        "Xdivy",
        _zero_at_zero(_XDIVY, ulp={"output": 0.5, "grad": 2.5}),
        complex_numbers(_XDIVY, output=4, grad=6, zero=0),
    ),
    *op(
        "xlog1py",
        "Xlog1py",
        _zero_at_zero(_XLOG1PY, ulp={"output": (2.5, 1.5, 3, 2.5), "grad": (2.5, 2, 3, 3.5)}),
        complex_numbers(_XLOG1PY, output=5, grad=6, zero=0),
    ),
    *op(
        "xlogy",
        "Xlogy",
        _zero_at_zero(_XLOGY, ulp={"output": (1.5, 1.5, 2.5, 2.5), "grad": (1.5, 1.5, 2, 2)}),
        complex_numbers(_XLOGY, output=6, grad=6, zero=0),
    ),
)
