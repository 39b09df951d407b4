"""Determinants, and the signs and logarithms of determinants, with their derivatives and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Array, Numbers, adjoint, changed, identity, lu, solve
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.running import Running


def _pivots(a: Array) -> tuple[Array, Array]:
    """The sign of the permutation of each matrix, of shape (...), and its pivots, of shape (..., n)."""
    order, _, upper = lu(a)
    later = np.triu(np.ones((a.shape[-1],) * 2, bool), 1)
    swaps = np.sum((order[..., :, None] > order[..., None, :]) & later, axis=(-1, -2))
    return 1 - 2 * (swaps % 2), np.diagonal(upper, axis1=-2, axis2=-1)


def determinant(a: Numbers) -> Numbers:
    """The determinant of each matrix: 1 of an empty one.

    The error is that of a factorization of a changed matrix, and of a logarithm of the pivots and its exponential, in
    which TensorFlow computes it: the logarithms are rounded, relative to their sizes.
    """
    if not isinstance(a, Running):
        sign, pivots = _pivots(a)
        return np.asarray(sign * np.prod(pivots, axis=-1))
    value, (_, pivots) = determinant(a.value), _pivots(a.value)
    own = np.sum(np.abs(adjugate(a.value)) * np.swapaxes(changed(a), -1, -2), axis=(-1, -2))
    return Running(value, own + a.unit * np.abs(value) * _rounded(pivots), a.unit)


def _rounded(pivots: Array) -> Array:
    """The roundings of a sum of the logarithms of pivots, in units of round-off."""
    sizes = np.abs(pivots)
    return np.sum(np.abs(np.log(np.where(sizes > 0, sizes, 1))) + 2, axis=-1)


def adjugate(a: Array) -> Array:
    """The transposed cofactors of each matrix, from the determinants of its minors: singular matrices have them too."""
    n = a.shape[-1]
    result = np.zeros(a.shape, a.dtype)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, axis=-2), j, axis=-1)
            result[..., j, i] = (-1) ** (i + j) * determinant(minor)
    return result


def _matrices(x: Numbers) -> Numbers:
    """A number for each matrix, as a matrix of one element."""
    return x.reshape(*x.shape, 1, 1)


def trace(x: Numbers, y: Numbers) -> Numbers:
    """The trace of each product x @ y."""
    return np.sum((x @ y) * np.eye(x.shape[-1]), axis=(-1, -2))


def _inverse(a: Numbers) -> Numbers:
    """The inverse, with the errors of factors of the adjoint, as TensorFlow's gradients compute it."""
    return adjoint(solve(adjoint(a), identity(a)))


@dataclass(frozen=True)
class Determinant(Analysed):
    """The determinant of each matrix of a batch."""

    def formula(self, a: Numbers) -> Numbers:
        return determinant(a)

    def back(self, g: Numbers, a: Numbers) -> tuple[Numbers]:
        if isinstance(a, Running):
            return (_matrices(g) * adjoint(_matrices(determinant(a)) * _inverse(a)),)
        return (_matrices(g) * adjoint(adjugate(a)),)

    def along(self, ts: Any, a: Numbers) -> Numbers:
        if isinstance(a, Running):
            return determinant(a) * trace(_inverse(a), ts[0])
        return trace(adjugate(a), ts[0])

    def curved(self, g: Numbers, ts: Any, a: Numbers) -> tuple[Numbers]:
        x = _inverse(a)
        change = x @ ts[0] @ x
        moved = _matrices(trace(x, ts[0])) * x - change
        return (_matrices(g) * adjoint(_matrices(determinant(a)) * moved),)


@dataclass(frozen=True)
class LogDeterminant(Analysed):
    """The sign and the logarithm of the absolute value of each determinant, stacked along a new first axis.

    With t the trace of a⁻¹ da, the logarithm changes by Re t, and the sign s of complex matrices by i s Im t.
    """

    def formula(self, a: Numbers) -> Numbers:
        if not isinstance(a, Running):
            sign, pivots = _pivots(a)
            sizes = np.abs(pivots)
            phase = sign * np.prod(pivots / np.where(sizes == 0, 1, sizes), axis=-1)
            return np.stack([phase, np.sum(np.log(sizes), axis=-1).astype(phase.dtype)])
        value, whole = self.formula(a.value), determinant(a)
        off = np.where(whole.value == 0, 0, whole.error / np.abs(np.where(whole.value == 0, 1, whole.value)))
        return Running(value, np.stack([off if a.value.dtype.kind == "c" else 0 * off, off]), a.unit)

    def back(self, g: Numbers, a: Numbers) -> tuple[Numbers]:
        return (_matrices(self._weight(g, a)) * adjoint(_inverse(a)),)

    def along(self, ts: Any, a: Numbers) -> Numbers:
        t, (sign, _) = trace(_inverse(a), ts[0]), self.formula(a)
        return np.stack([sign * _turned(t), _real(t)])

    def curved(self, g: Numbers, ts: Any, a: Numbers) -> tuple[Numbers]:
        x = _inverse(a)
        change = x @ ts[0] @ x
        sign, t = self.formula(a)[0], _turned(trace(x, ts[0]))
        weight = -_turned(np.conj(g[0]) * sign * t)
        return (_matrices(weight) * adjoint(x) - _matrices(self._weight(g, a)) * adjoint(change),)

    def _weight(self, g: Numbers, a: Numbers) -> Numbers:
        """Re g₁ of the logarithm, and -i Im(ḡ₀ s) of the sign: the factor of the adjoint inverse."""
        return _real(g[1]) - _turned(np.conj(g[0]) * self.formula(a)[0])


def _real(x: Numbers) -> Numbers:
    """The real part, in the dtype of x."""
    if isinstance(x, Running):
        return Running(_real(x.value), x.error, x.unit)
    return np.real(x).astype(x.dtype)


def _turned(x: Numbers) -> Numbers:
    """i times the imaginary part, in the dtype of x: 0 of a real number."""
    if isinstance(x, Running):
        return Running(_turned(x.value), x.error * (x.value.dtype.kind == "c"), x.unit)
    return np.asarray(x - np.real(x))
