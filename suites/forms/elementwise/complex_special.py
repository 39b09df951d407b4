"""Complex special: parts that promise products, quotients and powers of complex numbers with special parts.

C99, annex G.5, calls a number with an infinite part an infinity. A product of a non-zero number and an infinity is an
infinity, a quotient of a finite number and an infinity is a zero, and so on. The formulas of real numbers give NaN in
many of these places; the annex recovers the result, which TensorFlow does not promise. So NaN is right there as well.
Finite operands have finite results: no formula may leave the range on its way, unless the result does.

Gradients have no such promise. They are products of the upstream and of a derivative whose terms are infinite or NaN,
in an order that nothing documents; the annex has functions, not derivatives.

C99, annex G.6.4.1, allows exp(y log x) for every pair of numbers, which TensorFlow's kernels and XLA compute in some
form. Finite numbers have the right power. A power of 0 is 1, 0 or an infinity by the real part of y, and NaN where that
is 0 and y is not. Where a part is infinite or NaN, the promise is exp(y log x) by annex G, or NaN. Where y log x is NaN
and one of its factors is an infinity, annex G.5 recovers an infinity of any direction, so that the power may be 0 or an
infinity as well. x^0 and 1^y are 1 or NaN there: both conventions exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, Draw
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.elementwise.analytic import crossed_pairs
from tf_opdiff.suites.forms.elementwise.complex_alternatives import of_complex
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.reference.elementwise.complex import from_parts
from tf_opdiff.suites.reference.elementwise.complex_power import exponent_of, power, unrecovered

_ZEROS = tuple(product((0.0, -0.0), repeat=2))

_NAN = np.array(np.nan)
#: An exponent whose error may be more than this says nothing of the power: i^(10^30) is as good as any number.
_LOST = 2.0**-6


def special_products(
    units: float, *, zero: int | None = None, factors: Callable[..., Any] = lambda x, y: (x, y)
) -> Part:
    """A part: products (ac - bd) + (ad + bc) i, in IEEE 754 arithmetic; one that overflows may be NaN.

    The product of an infinity that comes out as NaN may also be an infinity, as annex G.5.1 recovers it.

    Args:
      units: the error allowed in either part, in units of round-off of the product's size.
      zero: the argument, by number, that makes the result 0, whatever the other one is.
      factors: factors(x, y) → the two numbers that are multiplied; by default, x and y themselves.
    """
    reference = _with_zero(lambda *xs: _product(*factors(*xs)), zero)

    def alternatives(dtype: np.dtype, g: Any, x: np.ndarray, y: np.ndarray) -> Sequence[np.ndarray]:
        rounded, value = reference(x.astype(dtype), y.astype(dtype)), reference(*_long(x, y))
        endless = [np.isinf(z.real) | np.isinf(z.imag) for z in factors(*_long(x, y))]
        recovered = np.where((endless[0] | endless[1]) & np.isnan(value), np.inf, value)
        own = of_complex(value, dtype, (rounded.astype(np.clongdouble),), signs=True)
        return [*own, *of_complex(recovered, dtype)]

    return _part(reference, alternatives, units)


def special_quotients(units: float, *, zero: int | None = None) -> Part:
    """A part: quotients as annex G.5.1 has them, or NaN; `units` and `zero` are as of `special_products`."""
    reference = _with_zero(_quotient, zero)

    def alternatives(dtype: np.dtype, g: Any, x: np.ndarray, y: np.ndarray) -> Sequence[np.ndarray]:
        value = reference(*_long(x, y))
        chosen = np.zeros(value.shape, bool) if zero is None else (x, y)[zero] == 0
        recovered = ~chosen & ~(np.isfinite(x) & np.isfinite(y) & (y != 0))
        zeros = [np.where(recovered & (value == 0), from_parts(*map(np.array, signs)), value) for signs in _ZEROS]
        nan = np.where(recovered, from_parts(np.array(np.nan), np.array(np.nan)), value)
        return of_complex(value, dtype, (*zeros, nan), signs=True)

    return _part(reference, alternatives, units)


def special_powers(units: float) -> Part:
    """A part: powers of each of 121 numbers by each of them.

    Args:
      units: the error of the exponent y log x, in units of round-off of its size.
    """

    def alternatives(dtype: np.dtype, g: Any, x: np.ndarray, y: np.ndarray) -> Sequence[np.ndarray]:
        value, special, recovered = power(x, y), ~(np.isfinite(x) & np.isfinite(y)), unrecovered(x, y)
        nan = np.where(special, from_parts(_NAN, _NAN), value)
        one = np.where(special & ((y == 0) | (x == 1)), 1, value)
        zero, infinity = (np.where(recovered, end, value) for end in (0, np.inf))
        reach = bound(float(np.finfo(dtype).eps) / 2, g, x, y)
        real, imag = (np.where(np.abs(part) < reach, 0, part) for part in (value.real, value.imag))
        near = [from_parts(*parts) for parts in ((real, value.imag), (value.real, imag))]
        return [*of_complex(value, dtype, (nan, one, zero, *near), signs=True), *of_complex(infinity, dtype)]

    def bound(u: float, g: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        value, exponent = np.abs(power(x, y)), np.abs(exponent_of(x, y))
        return np.where(np.isfinite(value), value * units * u * (1 + np.where(np.isfinite(exponent), exponent, 0)), 0)

    return part(
        "-complex-special",
        reference=power,
        recipes={"special": _pairs},
        dtypes=COMPLEX,
        bound={"output[0]": bound},
        loose={
            "output": Loose(
                lambda x, y: np.abs(exponent_of(x, y)) > 16, "the exponent y log x, rounded, is off by u times it"
            )
        },
        alternatives={"output[0]": alternatives},
    )


def _part(reference: Callable[..., Any], alternatives: Callable[..., Any], units: float) -> Part:
    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(reference(*_long(x, y)))

    def bound(u: float, g: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        size = np.abs(value(x, y))
        return units * u * np.where(np.isfinite(size), size, 0)

    return part(
        "-complex-special",
        reference=value,
        recipes={"special": lambda draw, dtype: crossed_pairs(dtype)},
        dtypes=COMPLEX,
        bound={"output[0]": bound},
        alternatives={"output[0]": alternatives},
    )


def _long(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(array.astype(np.clongdouble) for array in arrays)


def _with_zero(function: Callable[..., Any], argument: int | None) -> Callable[..., Any]:
    """The function, but 0 where an argument is 0."""
    if argument is None:
        return function
    return lambda *xs: np.where(xs[argument] == 0, 0, function(*xs))


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return from_parts(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real, x.dtype)


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    size = y.real * y.real + y.imag * y.imag
    finite = from_parts((x.real * y.real + x.imag * y.imag) / size, (x.imag * y.real - x.real * y.imag) / size)
    endless = [np.isinf(z.real) | np.isinf(z.imag) for z in (x, y)]
    nan = [np.isnan(z.real) | np.isnan(z.imag) for z in (x, y)]
    infinite = (endless[0] & ~endless[1] & ~(nan[1] & ~endless[1])) | ((y == 0) & (x != 0))
    zero = ~endless[0] & ~nan[0] & endless[1]
    return np.select([infinite, zero], [np.inf, 0], finite)


def _pairs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Each of 121 numbers with each of them, without pairs whose exponent is lost: see `_LOST`."""
    x, y = crossed_pairs(dtype)
    error = np.abs(exponent_of(*(z.astype(np.complex128) for z in (x, y)))) * float(np.finfo(dtype).eps)
    precise = ~(np.isfinite(x) & np.isfinite(y) & (error > _LOST))
    return x[precise], y[precise]
