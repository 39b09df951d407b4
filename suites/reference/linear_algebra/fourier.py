"""Fourier: discrete Fourier transforms by their matrices in long double, with gradients and errors.

The transform of n numbers is X_k = Σ x_j exp(-2πi j k / n), the inverse one divides by n and has the other sign. A
transform of real numbers has the terms up to k = n / 2, from which its inverse takes the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import lowest_bit
from tf_opdiff.suites.reference.promises.promise import Promise

#: Lengths whose factors are all ±1 and ±i.
_EXACT = {0, 1, 2, 4}


_PI = np.longdouble("3.14159265358979323846264338327950288")


@lru_cache(maxsize=64)
def roots(n: int) -> np.ndarray:
    """exp(-2πi j k / n), of shape (n, n), in complex long double; those of quarter turns are exact."""
    turns = np.outer(np.arange(n), np.arange(n)) % max(n, 1)
    octant, rest = divmod(8 * turns, max(n, 1))
    odd = octant % 2  # the angle from the nearest quarter turn is at most an eighth of a turn
    angle = _PI * (rest - odd * n) / max(4 * n, 1)
    quarters = np.array([1, -1j, -1, 1j])[(octant + odd) // 2 % 4]
    return np.asarray((np.cos(angle) - 1j * np.sin(angle)) * quarters, np.clongdouble)


@dataclass(frozen=True)
class Fourier(Promise):
    """A transform of the last axes of a tensor.

    rank        the number of axes: 1, 2 or 3.
    inverse     whether it is the inverse transform.
    real        whether the numbers in time are real.
    """

    rounded = ("output", "grad", "jvp")

    rank: int
    inverse: bool = False
    real: bool = False

    def f(self, x: np.ndarray, lengths: tuple[int, ...] = ()) -> np.ndarray:
        """The transform; `lengths`, one for each axis, are those of the real numbers, whose end is cut off."""
        used = x[self._used(x, lengths)].astype(np.clongdouble)
        for i, matrix in enumerate(self._matrices(x, lengths)):
            used = _along(i - self.rank, matrix, used)
        return used.real if self.real and self.inverse else used

    def vjp(self, g: np.ndarray, x: np.ndarray, lengths: tuple[int, ...] = ()) -> tuple[np.ndarray]:
        """The gradient: the adjoint transform of g, and zeros for numbers that are cut off."""
        back = np.asarray(g, np.clongdouble)
        for i, matrix in enumerate(self._matrices(x, lengths)):
            back = _along(i - self.rank, np.conj(matrix).T, back)
        gradient = np.zeros(x.shape, np.clongdouble)
        gradient[self._used(x, lengths)] = back
        return (gradient.real if self.real and not self.inverse else gradient,)

    def jvp(self, ts: Any, x: np.ndarray, lengths: tuple[int, ...] = ()) -> np.ndarray:
        """The transform of the tangent."""
        return self.f(ts[0], lengths)

    def jvp_error(self, u: float, ts: Any, x: np.ndarray, lengths: tuple[int, ...] = ()) -> np.ndarray:
        """The error of the transform of the tangent."""
        return self.error(u, ts[0], lengths)

    def error(self, u: float, x: np.ndarray, lengths: tuple[int, ...] = ()) -> np.ndarray:
        """The error of the transform, of its shape."""
        counts = self._lengths(x, lengths)
        used = x[self._used(x, lengths)] * self._weights(counts)
        return self._error(u, used, self.f(x, lengths), counts)

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray, lengths: tuple[int, ...] = ()) -> np.ndarray:
        """The error of the gradient, of the shape of x."""
        error, where = np.zeros(x.shape), self._used(x, lengths)
        value, counts = self.vjp(g, x, lengths)[0][where], self._lengths(x, lengths)
        error[where] = self._error(u, g, value, counts) * self._weights(counts)
        return error

    def _error(self, u: float, x: np.ndarray, y: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
        """On its way to a result, each term takes part in log₂ n sums, and between them in products with factors.

        A sum costs u. A product with a rounded factor costs (√5 + 1 / √2) u, by R. Brent, C. Percival, P. Zimmermann,
        Error bounds on complex floating-point multiplication, https://doi.org/10.1090/S0025-5718-07-01931-X. One u more
        is for lengths that are no powers of two. Where all factors are ±1 or ±i and all sums have few bits, nothing is
        rounded. Subnormal numbers may be flushed.
        """
        axes, n = tuple(range(-self.rank, 0)), max(prod(lengths), 1)
        total = np.sum(np.abs(x), axis=axes, keepdims=True) / (n if self.inverse else 1)
        lowest = np.min(lowest_bit(x), axis=axes, keepdims=True, initial=np.inf)
        exact = set(lengths) <= _EXACT and (8 * n * total * u <= lowest)
        steps = 1 + np.log2(n) + max(np.log2(n) - 1, 0) * (np.sqrt(5) + np.sqrt(0.5))
        rough = np.where(exact, 0.0, steps * u * total)
        least = _smallest_normal(u)
        flushed = np.where(lowest < least, n * least, 0.0)
        return rough + np.where(exact, 0, 2 * u) * np.abs(y).astype(np.float64) + flushed

    def _lengths(self, x: np.ndarray, lengths: tuple[int, ...]) -> tuple[int, ...]:
        """The lengths of the transform along its axes."""
        return lengths or x.shape[x.ndim - self.rank :]

    def _used(self, x: np.ndarray, lengths: tuple[int, ...]) -> tuple[Any, ...]:
        """The part of x that the transform takes, as an index."""
        used = list(self._lengths(x, lengths))
        if self.real and self.inverse:
            used[-1] = used[-1] // 2 + 1
        return (..., *(slice(0, n) for n in used))

    def _weights(self, counts: tuple[int, ...]) -> np.ndarray:
        """How many terms each of those of an inverse transform to real numbers stands for: itself, and its opposite."""
        n = counts[-1]
        terms = np.arange(n // 2 + 1)
        return np.where((terms == 0) | (2 * terms == n), 1, 2) if self.real and self.inverse else np.ones(1)

    def _matrices(self, x: np.ndarray, lengths: tuple[int, ...]) -> list[np.ndarray]:
        """The matrix along each axis of the transform."""
        counts = self._lengths(x, lengths)
        every = [np.conj(roots(n)) / max(n, 1) if self.inverse else roots(n) for n in counts]
        if self.real:
            half = counts[-1] // 2 + 1
            every[-1] = every[-1][:, :half] * self._weights(counts) if self.inverse else every[-1][:half]
        return every


def _along(axis: int, matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A matrix times a tensor along one of its axes."""
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


def _smallest_normal(u: float) -> float:
    return float(np.finfo(np.float32 if u > 2.0**-30 else np.float64).smallest_normal)
