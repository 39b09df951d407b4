"""Complex special: parts that promise products and quotients of complex numbers with special parts in both operands.

C99, annex G.5, calls a number with an infinite part an infinity. A product of a non-zero number and an infinity is an
infinity, a quotient of a finite number and an infinity is a zero, and so on. The formulas of real numbers give NaN in
many of these places; the annex recovers the result, which TensorFlow does not promise. So NaN is right there as well.
Finite operands have finite results: no formula may leave the range on its way, unless the result does.

Gradients have no such promise. They are products of the upstream and of a derivative whose terms are infinite or NaN,
in an order that nothing documents; the annex has functions, not derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms.analytic import crossed_pairs
from tf_opdiff.suites.forms.complex_alternatives import of_complex
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.reference.complex import from_parts

_ZEROS = tuple(product((0.0, -0.0), repeat=2))


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
    z = np.empty(x.shape, x.dtype)
    z.real, z.imag = x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real
    return z


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    size = y.real * y.real + y.imag * y.imag
    finite = from_parts((x.real * y.real + x.imag * y.imag) / size, (x.imag * y.real - x.real * y.imag) / size)
    endless = [np.isinf(z.real) | np.isinf(z.imag) for z in (x, y)]
    nan = [np.isnan(z.real) | np.isnan(z.imag) for z in (x, y)]
    infinite = (endless[0] & ~endless[1] & ~(nan[1] & ~endless[1])) | ((y == 0) & (x != 0))
    zero = ~endless[0] & ~nan[0] & endless[1]
    return np.select([infinite, zero], [np.inf, 0], finite)
