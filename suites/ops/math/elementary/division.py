"""Division: quotients, quotients rounded to integers, and remainders."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.binary import (
    EXACT_PAIRS,
    Instead,
    floats,
    hard_exact_pairs,
    no_nan_vjp,
    product_of,
    products,
    subnormal_results,
)
from tf_opdiff.suites.forms.elementwise.complex import complex_numbers
from tf_opdiff.suites.forms.elementwise.complex_special import special_quotients
from tf_opdiff.suites.forms.elementwise.flushed import branching, either, outputs
from tf_opdiff.suites.forms.elementwise.integers import division
from tf_opdiff.suites.forms.of_xla import of_xla
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together, unconnected
from tf_opdiff.suites.forms.unary import WIDE
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.division import (
    floor_mod,
    floor_of_quotient,
    floored,
    over,
    quotient_dy,
    truncated,
    whole_quotient,
)
from tf_opdiff.suites.reference.promises.function import Function, one, unless, wide, y_zero
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes
from tf_opdiff.suites.reference.promises.wide import mp

_QUOTIENT = Function(f=np.divide, partials=(over, quotient_dy), exact=lambda x, y: x / y)
#: In long double, a quotient just below the smallest normal number of float64 is below it.
_QUOTIENT = replace(_QUOTIENT, wider=replace(_QUOTIENT, f=wide(np.divide)))
#: It is 0 for y = 0, whatever x is.
_QUOTIENT_NO_NAN = Function(
    f=unless(y_zero, np.divide), partials=(unless(y_zero, over), unless(y_zero, quotient_dy)), exact=lambda x, y: x / y
)
_REST = Function(
    f=floor_mod, partials=(one, wide(lambda x, y: -floored(x, y))), exact=lambda x, y: x - y * mp.floor(x / y)
)


def _quotient_curves(function=lambda f: f):
    """The second derivatives of a quotient; `function` turns them into those of another function."""
    mixed, twice = (lambda x, y: -1 / y / y), (lambda x, y: 2 * x / y / y / y)
    return Hessian(terms={(0, 1): [function(wide(mixed))], (1, 1): [function(wide(twice))]}, jvp=3.6, hvp=5)


def _rounded(rounding, exact):
    """Whether rounding x / y to the dtype, or flushing it to zero, changes the integer below it."""

    def condition(dtype, x, y):
        quotient = (x / y).astype(dtype).astype(np.float64)
        small = np.abs(quotient) < float(ml_dtypes.finfo(dtype).smallest_normal)
        rounded = rounding(np.where(small, np.copysign(0, quotient), quotient))
        return np.isfinite(rounded) & (rounded != exact(x, y).astype(dtype).astype(np.float64))

    return condition


_FLOORED, _TRUNCATED = _rounded(np.floor, floor_of_quotient), _rounded(np.trunc, truncated)


def _either_rest(dtype, g, x, y):
    """The alternatives of a remainder; one that is subnormal may count as zero, so that no divisor is added to it."""
    found = outputs(floor_mod)(dtype, g, x, y)
    for rest in (np.fmod(x, y), np.fmod(flushed_in(dtype, x), flushed_in(dtype, y))):
        tiny = np.abs(rest) < float(ml_dtypes.finfo(dtype).smallest_normal)
        found += wholes(*(np.where(tiny, r, floor_mod(x, y)) for r in (rest, np.copysign(0, rest))))
    return found


def _flushed_rest(dtype, x, y):
    """Whether the remainder is subnormal before the divisor is added to it."""
    rest = np.abs(np.fmod(x, y))
    return (rest > 0) & (rest < float(ml_dtypes.finfo(dtype).smallest_normal))


def _rounded_quotients(rounded):
    """A recipe: pairs whose quotient is rounded up to an integer, or flushed to zero."""

    def recipe(draw, dtype):
        y = draw.uniform(20000, low=0.1, high=4.0).astype(dtype)
        n = draw.integers(20000, low=2, high=200)
        x = (n * y.astype(np.float64)).astype(dtype)
        wrong = rounded(dtype, x.astype(np.float64), y.astype(np.float64))
        tiny = float(ml_dtypes.finfo(dtype).smallest_normal)
        some = x[wrong][:40], y[wrong][:40]
        return tuple(np.concatenate([a, np.array([b] * 3, dtype)]) for a, b in zip(some, (-tiny, 1024.0), strict=True))

    return recipe


def _rounding(reference, rounded):
    """A part: a quotient rounded to an integer; pairs that fail if a kernel rounds the quotient first stand apart."""
    return together(
        part(
            positions=True,
            every_input=True,
            reference=reference,
            vjp=unconnected,
            recipes={
                **{name: Instead(rounded, 7, 2).of(recipe) for name, recipe in EXACT_PAIRS.items()},
                **hard_exact_pairs({"replaced": {"rounded": rounded}}, _rounded_quotients(rounded)),
            },
            alternatives={"output": outputs(reference)},
            dtypes=FLOATS,
            ulp={"output": 0.5},
        ),
        part("-rounded", reference=reference, recipes={"quotients": _rounded_quotients(rounded)}, dtypes=FLOATS),
    )


#: Rounded quotients, and infinite ones, fail in the recipes of the first derivatives.
_LINEAR = Hessian(terms={}, jvp=2, points=(), sizes=False, kept=("domain",))
_EXACT_REST: dict[str, Any] = {
    "reference": np.fmod,
    "recipes": {**EXACT_PAIRS, **hard_exact_pairs()},
    "alternatives": {"output": outputs(np.fmod)},
}
#: Parts: the remainder x - y trunc(x / y) of a quotient rounded towards zero.
_FMOD = together(
    part(
        positions=True,
        every_input=True,
        vjp=lambda g, x, y: (unbroadcast(g, x.shape), unbroadcast(-g * truncated(x, y), y.shape)),
        dtypes=WIDE,
        ulp={"output": 0.5, "grad": 1.5},
        **_EXACT_REST,
    ),
    of_xla(("float16", "bfloat16"), ulp={"output": 0.5}, **_EXACT_REST),
    division(np.fmod),
)

SPECS = (
    *op(
        "div",
        "Div",
        floats(_QUOTIENT, ulp={"output": 0.5, "grad": 2.5}, hessian=_quotient_curves()),
        division(whole_quotient),
        complex_numbers(_QUOTIENT, output=4, grad=6),
        special_quotients(4),
    ),
    *op(
        "div-no-nan",
        "DivNoNan",
        floats(
            _QUOTIENT_NO_NAN,
            ulp={"output": 0.5, "grad": 2.5},
            vjp_of=no_nan_vjp,
            hessian=_quotient_curves(lambda f: unless(y_zero, f)),
        ),
        complex_numbers(_QUOTIENT_NO_NAN, output=4, grad=6, zero=1),
        special_quotients(4, zero=1),
    ),
    *op(
        "floor-div",
        "FloorDiv",
        _rounding(floored, _FLOORED),
        part(
            "-infinite",  # https://github.com/tensorflow/tensorflow/issues/74893
            reference=floored,
            recipes={
                "dividend": product_of((np.inf, -np.inf), (1.0, -1.0, 0.3, -0.3, 1000.0)),
                "divisor": product_of((1.4, -1.4, 0.0, -0.0, 1000.0, -1000.0), (np.inf, -np.inf)),
            },
            dtypes=FLOATS,
        ),
        division(np.floor_divide),
    ),
    *op(
        "floor-mod",
        "FloorMod",
        floats(
            _REST,
            ulp={"output": 0.5, "grad": 1.5},
            instead=(Instead(_FLOORED, 7, 2), Instead(_flushed_rest, 7, 2)),
            hessian=_LINEAR,
            alternatives=branching(either(_REST, products) | {"output": _either_rest}),
        ),
        division(np.mod),
    ),
    *op("mod", "Mod", _FMOD),
    *op(
        "real-div",
        "RealDiv",
        floats(_QUOTIENT, ulp={"output": 0.5, "grad": 2.5}, hessian=_quotient_curves()),
        subnormal_results(np.divide, name="div-subnormal"),
        complex_numbers(_QUOTIENT, output=4, grad=6),
        special_quotients(4),
    ),
    *op("truncate-div", "TruncateDiv", _rounding(truncated, _TRUNCATED), division(whole_quotient)),
    *op("truncate-mod", "TruncateMod", _FMOD),
)
