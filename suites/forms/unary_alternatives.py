"""Unary alternatives: the values that are right besides the promised one at subnormal numbers and next to the largest.

Let n be the smallest normal number of a dtype, t the largest. Per element, these hold:

- a CPU thread may take an input for zero if it is subnormal, and a result if it is below n by no more than rounding;
- the derivative may be rounded, or flushed, before it meets the upstream; a factor such as 1/2 may meet it first;
- a number that is t within rounding may be infinite, and the other way round;
- where the error that the bound allows is as large as the derivative, the sign of the derivative is open: an upstream
  of zero, of infinity or below n then gives a zero of either sign, an infinity of either sign, or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

Alternatives = Callable[..., Sequence[np.ndarray]]
#: A number of this times the smallest normal one may be computed as a subnormal one, because of rounding.
_ROUNDED = 1.01
#: The same of a product with a factor such as 1/2, which kernels may take before other factors.
_HALVED = 4.0
#: Steps of relative size eps by which a number next to the largest may be off.
_STEPS = 16


def of_output(f: Callable[..., Any]) -> Alternatives:
    """Alternatives of f(x)."""

    def alternatives(dtype: np.dtype, g: Any, x: np.ndarray) -> Sequence[np.ndarray]:
        exact = f(x)
        results = [exact, f(_flushed(x, dtype))]
        return _distinct(
            exact, (r for y in results for r in (y, _flushed(y, dtype, _ROUNDED), *_at_top(y, dtype))), dtype
        )

    return alternatives


def of_gradient(
    vjp: Callable[..., Any], df: Callable[..., Any], errors: Sequence[Callable[..., Any]] = ()
) -> Alternatives:
    """Alternatives of a gradient.

    Args:
      vjp: vjp(g, x), which is g f'(x) except at single points.
      df: f'(x).
      errors: bounds of the gradient, error(u, g, x); none if a budget in ULPs is all that it has.
    """

    def alternatives(dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> Sequence[np.ndarray]:
        exact, near, small = vjp(g, x), _flushed(x, dtype), _flushed(g, dtype, _HALVED)
        products = [vjp(upstream, at) for upstream in (g, small) for at in (x, near)]
        slopes = [slope for at in (x, near) for slope in _slopes(df(at), dtype)]
        products += [upstream * slope for upstream in (g, small) for slope in slopes]
        products += [y for error in errors for y in _of_any_sign(exact, g, x, dtype, df, error)]
        values = (r for y in products for r in (y, _flushed(y, dtype, _ROUNDED), *_at_top(y, dtype)))
        return _distinct(exact, values, dtype)

    return alternatives


def of_product(f: Callable[..., Any]) -> Alternatives:
    """Alternatives of the output of a gradient op: f(g, y), of which both arguments and the result may be flushed."""

    def alternatives(dtype: np.dtype, _: Any, g: np.ndarray, y: np.ndarray) -> Sequence[np.ndarray]:
        exact = f(g, y)
        results = [f(one, other) for one in (g, _flushed(g, dtype, _HALVED)) for other in (y, _flushed(y, dtype))]
        values = (r for z in results for r in (z, _flushed(z, dtype, _ROUNDED), *_at_top(z, dtype)))
        return _distinct(exact, values, dtype)

    return alternatives


def _slopes(slope: np.ndarray, dtype: np.dtype) -> Iterator[np.ndarray]:
    """A derivative as a kernel may hold it in a dtype, at subnormal numbers and next to the largest."""
    info = ml_dtypes.finfo(dtype)
    rounded = np.asarray(slope).astype(dtype).astype(np.longdouble)
    yield rounded
    yield _flushed(rounded, dtype, _HALVED)
    yield from _at_top(rounded, dtype)
    size, step = np.abs(rounded), np.longdouble(info.smallest_subnormal)
    few_digits = (size > 0) & (size < _HALVED * float(info.smallest_normal))
    for steps in (-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1):
        yield np.where(few_digits, np.copysign(np.maximum(size + steps * step, 0), rounded), rounded)


def _of_any_sign(
    exact: np.ndarray, g: np.ndarray, x: np.ndarray, dtype: np.dtype, df: Callable[..., Any], error: Callable[..., Any]
) -> list[np.ndarray]:
    """The gradients of special upstreams where the bound leaves the sign of the derivative open."""
    info = ml_dtypes.finfo(dtype)
    allowed = error(float(info.eps) / 2, np.ones(x.shape), x)
    special = np.isinf(g) | (np.abs(g) <= _HALVED * float(info.smallest_normal))
    open_sign = special & ~(allowed < np.abs(df(x))) & np.isfinite(x)
    return [np.where(open_sign, g * slope, exact) for slope in (0.0, -0.0, *((1.0, -1.0) if np.isinf(g).any() else ()))]


def _flushed(x: Any, dtype: np.dtype, slack: float = 1.0) -> np.ndarray:
    """The values with zeros of their signs for those below `slack` times the smallest number that is kept.

    float16 is computed in float32, where its subnormals are normal numbers.
    """
    x, info = np.asarray(x), ml_dtypes.finfo(dtype)
    least = float(info.smallest_subnormal if dtype == np.float16 else info.smallest_normal)
    return np.where(np.abs(x) < slack * least, np.copysign(0, x), x)


def _at_top(y: np.ndarray, dtype: np.dtype) -> list[np.ndarray]:
    """The values, with infinities for those next to the largest number, and the other way round."""
    info = ml_dtypes.finfo(dtype)
    top, off = float(info.max), _STEPS * float(info.eps)
    size = np.abs(y)
    beyond, below = size > top, size < np.longdouble(top) * (1 + off)
    near = size > np.longdouble(top) * (1 - off)
    return [np.where(near, np.copysign(np.inf, y), y), np.where(beyond & below, np.copysign(top, y), y)]


def _distinct(exact: np.ndarray, values: Iterable[np.ndarray], dtype: np.dtype) -> list[np.ndarray]:
    """The values that differ from the exact ones and from each other once they are rounded to a dtype."""
    kept: list[np.ndarray] = []
    rounded = [exact.astype(dtype)]
    for value in values:
        other = value.astype(dtype)
        if not any(_same(other, one) for one in rounded):
            kept.append(value)
            rounded.append(other)
    return kept


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays hold the same numbers, with the same signs of zeros; all NaNs are the same."""
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(equal | (np.isnan(a) & np.isnan(b))))
