"""Flushed: the results that are right as well where a processor takes subnormal numbers for zeros.

One rule for all forms. Besides the promise, each element may be

- the result of flushed inputs, and either result flushed;
- of a gradient, the product of the upstream and the derivative, each flushed or not before they meet. A derivative that
  is subnormal or infinite in the dtype may also be rounded to the dtype before it meets the upstream.

A flushed number is a zero of its sign. `suites.reference.promises.subnormal` says which numbers a dtype flushes:
float16 flushes none. A kernel that rounds several times may be off at both ends of the range: see `Kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.subnormal import flushed_in

#: alternatives(dtype, g, *inputs) → further arrays that keep a promise, element by element, as of a spec.
Alternatives = Callable[..., list[np.ndarray]]
#: vjp_of(derivative) → the VJP that multiplies an upstream by this derivative.
VjpOf = Callable[[Callable[..., Any]], Callable[..., Any]]
#: A derivative below this times the smallest normal number may be flushed: 2 (x - y) is where x - y is subnormal.
_FACTOR = 4.0


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """How far a kernel may be off at the ends of the range of a dtype.

    steps   roundings of relative size eps, at most 1 % together: a number that is so near to the smallest normal number
            may be computed as a subnormal one, and one so near to the largest number as an infinity, or the other way
            round. A derivative below four times the smallest normal number may be off by one smallest number.
    factor  an upstream below this times the smallest normal number may be flushed, because a factor such as 1/2 may
            meet it first.
    """

    steps: float = 0.0
    factor: float = 1.0

    def results(self, y: Any, dtype: np.dtype) -> Iterator[np.ndarray]:
        """A result, and the results that a kernel may have in its place."""
        y = np.asarray(y)
        yield from (y, self.flushed(y, dtype), *self._at_top(y, dtype))

    def concerns(self, dtype: np.dtype, *arrays: Any) -> bool:
        """Whether a number in some arrays is so near to an end of the range that a kernel may be off there."""
        info = ml_dtypes.finfo(dtype)
        low = max(_FACTOR, self.factor) * float(info.smallest_normal)
        high = np.longdouble(info.max) * (1 - min(self.steps * float(info.eps), 0.01))
        parts = (part for x in map(np.asarray, arrays) for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,)))
        sizes = map(np.abs, parts)
        return any(bool(np.any(((size > 0) & (size < low)) | (size > high))) for size in sizes)

    def flushed(self, y: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A result, flushed where a kernel may compute a subnormal number."""
        return flushed_in(dtype, y, 1 + min(self.steps * float(ml_dtypes.finfo(dtype).eps), 0.01))

    def derivatives(self, slope: Any, dtype: np.dtype) -> Iterator[np.ndarray]:
        """A derivative as a kernel may hold it in a dtype: rounded, or flushed, at the ends of the range."""
        slope, info = np.asarray(slope), ml_dtypes.finfo(dtype)
        near = slope.astype(dtype).astype(slope.dtype)
        size, normal, least = np.abs(near), float(info.smallest_normal), float(info.smallest_subnormal)
        rounded = np.where(~np.isfinite(near) | (size < normal), near, slope)
        flushed = flushed_in(dtype, near, _FACTOR)
        yield from (rounded, np.where(flushed == near, rounded, flushed))
        if self.steps:
            yield from (np.where(other == near, slope, other) for other in self._at_top(near, dtype))
            small = (size > 0) & (size < _FACTOR * normal)
            for steps in (-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1):
                yield np.where(small, np.copysign(np.maximum(size + steps * least, 0), near), slope)

    def _at_top(self, y: np.ndarray, dtype: np.dtype) -> Sequence[np.ndarray]:
        """The values, with infinities for those next to the largest number, and the other way round."""
        if not self.steps:
            return ()
        info = ml_dtypes.finfo(dtype)
        top, off, size = np.longdouble(info.max), self.steps * float(info.eps), np.abs(y)
        beyond = (size > top) & (size < top * (1 + off))
        infinite = np.where(size > top * (1 - off), np.copysign(np.inf, y), y)
        return infinite, np.where(beyond, np.copysign(top, y), y)


#: A result that is rounded once.
EXACT = Kernel()
#: A result that is rounded several times.
ROUNDED = Kernel(steps=16, factor=4)


def outputs(f: Callable[..., Any], kernel: Kernel = EXACT, factors: Sequence[float] = ()) -> Alternatives:
    """Alternatives of an output.

    Args:
      f: f(*inputs), elementwise.
      kernel: how far the kernel may be off.
      factors: for each input, `Kernel.factor` if it is an upstream, and 1 otherwise; all 1 by default.
    """

    def alternatives(dtype: np.dtype, g: Any, *xs: np.ndarray) -> list[np.ndarray]:
        exact, slacks = f(*xs), ((1.0,) * len(xs), *((factors,) if factors else ()))
        if not replace(kernel, factor=max((kernel.factor, *factors))).concerns(dtype, exact, *xs):
            return []
        flushed = [f(*map(partial(flushed_in, dtype), xs, slack)) for slack in slacks]
        results = (exact, *flushed)
        return distinct(exact, (r for y in results for r in kernel.results(y, dtype)), dtype)

    return alternatives


def gradient(vjp_of: VjpOf, derivative: Callable[..., Any], kernel: Kernel = EXACT) -> Alternatives:
    """Alternatives of a gradient.

    Args:
      vjp_of: vjp_of(derivative)(g, *inputs) → the gradient, elementwise.
      derivative: derivative(*inputs).
      kernel: how far the kernel may be off.
    """

    def alternatives(dtype: np.dtype, g: np.ndarray, *xs: np.ndarray) -> list[np.ndarray]:
        if not kernel.concerns(dtype, g, *xs, derivative(*xs), vjp_of(derivative)(g, *xs)):
            return []
        products = []
        for place in (xs, [flushed_in(dtype, x) for x in xs]):
            slopes = kernel.derivatives(derivative(*place), dtype)
            for vjp in (vjp_of(derivative), *(vjp_of(_constant(slope)) for slope in slopes)):
                products += [vjp(upstream, *place) for upstream in (g, flushed_in(dtype, g, kernel.factor))]
        return distinct(products[0], (r for y in products for r in kernel.results(y, dtype)), dtype)

    return alternatives


def gradient_within(
    vjp_of: VjpOf, derivative: Callable[..., Any], kernel: Kernel, errors: Sequence[Callable[..., Any]] = ()
) -> Alternatives:
    """Alternatives of the gradient of a function of one input: flushed ones, and those of either sign.

    Where the sign of the derivative is within its error, an upstream of zero, of infinity or below the smallest normal
    number gives a zero of either sign, an infinity of either sign, or NaN.

    Args:
      vjp_of, derivative, kernel: as of `gradient`.
      errors: bounds of the gradient, error(u, g, x); none if a budget in ULPs is all that it has.
    """
    flushed = gradient(vjp_of, derivative, kernel)

    def alternatives(dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
        exact, info = vjp_of(derivative)(g, x), ml_dtypes.finfo(dtype)
        special = np.isinf(g) | (np.abs(g) <= kernel.factor * float(info.smallest_normal))
        others = flushed(dtype, g, x)
        for error in errors if special.any() else ():
            allowed = error(float(info.eps) / 2, np.ones(x.shape), x)
            open_sign = special & ~(allowed < np.abs(derivative(x))) & np.isfinite(x)
            others += [np.where(open_sign, product, exact) for product in _of_any_sign(g)]
        return distinct(exact, others, dtype)

    return alternatives


def _of_any_sign(g: np.ndarray) -> Iterator[np.ndarray]:
    """Products with zeros of either sign and, if an upstream is infinite, with numbers of either sign."""
    yield from (g * 0.0, g * -0.0)
    if np.isinf(g).any():
        yield from (g, -g)


def _constant(slope: np.ndarray) -> Callable[..., np.ndarray]:
    return lambda *_: slope


def either(
    function: Function, vjp_of: Callable[[Function], Callable[..., Any]] | None = None, kernel: Kernel = EXACT
) -> dict[str, Alternatives]:
    """The alternatives of the output, and of the gradients if `vjp_of` gives the function's VJP."""

    def by(i: int) -> VjpOf:
        """The gradient by input i, from its derivative."""

        def with_derivative(d: Callable[..., Any]) -> Callable[..., Any]:
            partials = (*function.partials[:i], d, *function.partials[i + 1 :])
            return lambda g, *xs: vjp_of and vjp_of(replace(function, partials=partials))(g, *xs)[i]

        return with_derivative

    derivatives = {i: d for i, d in enumerate(function.partials) if vjp_of and d}
    gradients = {f"grad[{i}]": gradient(by(i), d, kernel) for i, d in derivatives.items()}
    return {"output": outputs(function, kernel), **gradients}


def places(dtype: np.dtype, *xs: np.ndarray) -> Iterator[list[np.ndarray]]:
    """The inputs with each choice of those that are flushed; choices that change nothing are left out."""
    flushed = [flushed_in(dtype, x) for x in xs]
    choices = [[x] if np.array_equal(x, y, equal_nan=True) else [x, y] for x, y in zip(xs, flushed, strict=True)]
    return map(list, product(*choices))


def distinct(exact: np.ndarray, values: Iterable[np.ndarray], dtype: np.dtype) -> list[np.ndarray]:
    """The arrays that differ from the exact one and from each other once they are rounded to a dtype."""
    others: list[np.ndarray] = []
    rounded = {_numbers(exact, dtype)}
    for value in values:
        numbers = _numbers(value, dtype)
        if numbers not in rounded:
            others.append(value)
            rounded.add(numbers)
    return others


def _numbers(array: np.ndarray, dtype: np.dtype) -> tuple[tuple[int, ...], bytes, bytes]:
    """A key that two arrays share if they round to the same numbers, with the same signs of zeros; NaNs are alike."""
    rounded = np.asarray(array).astype(dtype)
    if dtype.kind in "biu":  # no NaN
        return rounded.shape, rounded.tobytes(), b""
    real, imaginary = (np.where(np.isnan(x), np.asarray(np.nan, x.dtype), x) for x in (rounded.real, rounded.imag))
    return rounded.shape, real.tobytes(), imaginary.tobytes() if dtype.kind == "c" else b""
