"""Flushed: the results that are right as well where a processor takes subnormal numbers for zeros.

One rule for all forms. In place of the promise, a result may be

- the result of flushed inputs, and either result flushed;
- of a gradient, the product of the upstream and the derivative, each flushed or not before they meet. A derivative that
  is subnormal or infinite in the dtype may also be rounded to the dtype before it meets the upstream.

A processor that flushes subnormals flushes all of them, so each of these is a whole alternative: see
`harness.spec.tolerances.tolerance`. A flushed number is a zero of its sign. `suites.reference.promises.subnormal` says
which numbers a dtype flushes: float16 flushes none. A kernel that rounds several times may be off at both ends of the
range, at any element: see `Kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from operator import mul
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.forms.elementwise.kernel import EXACT, Kernel
from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in

#: alternatives(dtype, g, *inputs) → the alternatives of a quantity.
Alternatives = Callable[..., Others]
#: vjp_of(derivative) → the VJP that multiplies an upstream by this derivative.
VjpOf = Callable[[Callable[..., Any]], Callable[..., Any]]


def outputs(f: Callable[..., Any], kernel: Kernel = EXACT, factors: Sequence[float] = ()) -> Alternatives:
    """Alternatives of an output.

    Args:
      f: f(*inputs), elementwise.
      kernel: how far the kernel may be off.
      factors: for each input, `Kernel.factor` if it is an upstream, and 1 otherwise; all 1 by default.
    """

    def alternatives(dtype: np.dtype, g: Any, *xs: np.ndarray) -> Others:
        exact, slacks = f(*xs), ((1.0,) * len(xs), *((factors,) if factors else ()))
        if not replace(kernel, factor=max((kernel.factor, *factors))).concerns(dtype, exact, *xs):
            return []
        some = product((0, 1), repeat=len(xs))  # a kernel may read the bits of one input, and compute with another one
        results = [
            tuple(f(*map(partial(flushed_in, dtype), xs, map(mul, slack, flushed))) for slack in slacks)
            for flushed in some
        ]
        return distinct(exact, _either_result(kernel, dtype, exact, results, xs), dtype)

    return alternatives


def gradient(vjp_of: VjpOf, derivative: Callable[..., Any], kernel: Kernel = EXACT) -> Alternatives:
    """Alternatives of a gradient.

    Args:
      vjp_of: vjp_of(derivative)(g, *inputs) → the gradient, elementwise.
      derivative: derivative(*inputs).
      kernel: how far the kernel may be off.
    """

    def alternatives(dtype: np.dtype, g: np.ndarray, *xs: np.ndarray) -> Others:
        if not kernel.concerns(dtype, g, *xs, derivative(*xs), vjp_of(derivative)(g, *xs)):
            return []
        exact, flush = vjp_of(derivative)(g, *xs), partial(flushed_in, dtype)
        upstreams = ((g,), tuple(flush(g, factor) for factor in {1.0, kernel.factor}))
        products = [
            each
            for place in places(dtype, *xs)
            for same in upstreams
            for each in _products(vjp_of, derivative, kernel, dtype, same, place)
        ]
        near = [vjp_of(_constant(slope))(g, *xs) for slope in kernel.roundings(derivative(*xs), dtype)]
        apart = (end for y in near for end in (y, *kernel.at_top(y, dtype)))
        return distinct(exact, (*apart, *_either_result(kernel, dtype, exact, products, [g])), dtype)

    return alternatives


def _products(
    vjp_of: VjpOf,
    derivative: Callable[..., Any],
    kernel: Kernel,
    dtype: np.dtype,
    upstreams: Sequence[np.ndarray],
    place: Sequence[np.ndarray],
) -> Iterator[tuple[np.ndarray, ...]]:
    """The products of any of several upstreams with a derivative that is not flushed, and with one that is."""
    rounded, flushed = kernel.slopes(np.asarray(derivative(*place)), dtype)
    each = [(g, vjp_of(one)(g, *place)) for g in upstreams for one in (derivative, _constant(rounded))]
    yield tuple(y for _, y in each)
    yield tuple(
        np.asarray(np.where((slope == rounded) | np.isnan(slope), y, vjp_of(_constant(slope))(g, *place)))
        for slope in flushed
        for g, y in each
    )


def _either_result(
    kernel: Kernel,
    dtype: np.dtype,
    exact: np.ndarray,
    results: Iterable[tuple[np.ndarray, ...]],
    moved: Sequence[np.ndarray],
) -> Iterator[Any]:
    """The alternatives of a kernel that has one of several whole results, flushed or not.

    A kernel may flush what it computes, and move a number of the arrays `moved` that is the result itself.
    """
    yield from kernel.at_top(exact, dtype)
    for same in results:
        flushed = [(y, other) for y in same for other in kernel.flushed(y, dtype)]
        yield from (same, tuple(other for _, other in flushed))
        yield tuple(np.where(np.logical_or.reduce([y == x for x in moved]), y, other) for y, other in flushed)


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

    def alternatives(dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> Others:
        exact, info = vjp_of(derivative)(g, x), ml_dtypes.finfo(dtype)
        special = np.isinf(g) | (np.abs(g) <= kernel.factor * float(info.smallest_normal))
        others: Others = flushed(dtype, g, x)
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


def branching(alternatives: Mapping[str, Alternatives]) -> dict[str, Alternatives]:
    """The alternatives of a program that branches by the size of a number, and flushes in some branches.

    Any element may keep any of them. Known failures of these programs say which branches TensorFlow gets wrong.
    """

    def apart(one: Alternatives) -> Alternatives:
        return lambda *arguments: [
            array for other in one(*arguments) for array in (other if isinstance(other, tuple) else (other,))
        ]

    return {quantity: apart(one) for quantity, one in alternatives.items()}


def places(dtype: np.dtype, *xs: np.ndarray) -> Iterator[list[np.ndarray]]:
    """The inputs with each choice of those that are flushed; choices that change nothing are left out."""
    flushed = [flushed_in(dtype, x) for x in xs]
    choices = [[x] if np.array_equal(x, y, equal_nan=True) else [x, y] for x, y in zip(xs, flushed, strict=True)]
    return map(list, product(*choices))


def distinct(exact: np.ndarray, values: Iterable[Any], dtype: np.dtype) -> Others:
    """The alternatives that differ from the exact array and from each other once they are rounded to a dtype."""
    others: Others = []
    keys: set[Any] = {_numbers(exact, dtype), frozenset({_numbers(exact, dtype)})}
    for value in values:
        whole = isinstance(value, tuple)
        arrays = {_numbers(array, dtype): array for array in (value if whole else (value,))}
        key = frozenset(arrays) if whole else next(iter(arrays))
        if key not in keys:
            others.append(tuple(arrays.values()) if whole else value)
            keys.add(key)
    return others


def _numbers(array: np.ndarray, dtype: np.dtype) -> tuple[tuple[int, ...], bytes, bytes]:
    """A key that two arrays share if they round to the same numbers, with the same signs of zeros; NaNs are alike."""
    rounded = np.asarray(array).astype(dtype)
    if dtype.kind in "biu":  # no NaN
        return rounded.shape, rounded.tobytes(), b""
    real, imaginary = (np.where(np.isnan(x), np.asarray(np.nan, x.dtype), x) for x in (rounded.real, rounded.imag))
    return rounded.shape, real.tobytes(), imaginary.tobytes() if dtype.kind == "c" else b""
