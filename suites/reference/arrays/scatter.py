"""Scatter in NumPy: the ways to combine an update with the element that it meets, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Combination:
    """A way to combine an element with an update.

    two         two(x, update) → the new element, elementwise.
    powers      whether `two` multiplies or divides, so that exact results need powers of two.
    divides     whether `two` divides, so that an update of zero is a case of its own.
    rounded     whether `two` rounds.
    computes    whether `two` takes part of the old element; else one of the updates stays.
    """

    two: Callable[[np.ndarray, np.ndarray], np.ndarray]
    powers: bool = False
    divides: bool = False
    rounded: bool = False
    computes: bool = True

    @property
    def chooses(self) -> bool:
        """Whether the new element is one of both."""
        return self.computes and not self.rounded

    def size(self, x: np.ndarray, indices: np.ndarray, updates: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The size that a relative error of each element counts from: the sum of the sizes of all terms, or a product.

        Higham, Accuracy and Stability of Numerical Algorithms, section 4.2 for sums and section 3.1 for products.

        Args:
          x: the sizes of the elements.
          indices: the tuples.
          updates: the sizes of the updates.
          out: the results.
        """
        return np.abs(out) if self.powers else scattered(ADD, x, indices, updates)


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The quotient; that of integers is truncated towards zero, as in C."""
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    if x.dtype.kind == "u":
        return np.floor_divide(x, y)
    whole = np.floor_divide(x, y)
    return (whole + ((x - whole * y != 0) & (whole < 0))).astype(x.dtype)


UPDATE = Combination(two=lambda x, y: y, computes=False)
ADD = Combination(two=np.add, rounded=True)
SUB = Combination(two=np.subtract, rounded=True)
MUL = Combination(two=np.multiply, powers=True, rounded=True)
DIV = Combination(two=quotient, powers=True, divides=True, rounded=True)
MAX = Combination(two=np.maximum)
MIN = Combination(two=np.minimum)


def _place(x: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The flat number of the slice of `x` that each tuple names, in order, and whether the tuple is in range."""
    depth = indices.shape[-1]
    tuples = indices.reshape(-1, depth) if depth else np.zeros((int(np.prod(indices.shape[:-1])), 0), int)
    inside = np.logical_and.reduce((tuples >= 0) & (tuples < x.shape[:depth]), -1)
    safe = np.where(inside[:, None], tuples, 0)
    flat = np.zeros(len(tuples), np.int64)
    for size, column in zip(x.shape[:depth], safe.T, strict=True):
        flat = flat * size + column
    return flat, inside


def scattered(how: Combination, x: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, back: bool = False):
    """`x` with each update combined into the slice that its tuple of indices names; tuples out of range are left out.

    Args:
      how: the combination.
      x: of shape (d_0, …, d_n).
      indices: of shape (…, depth), depth <= n + 1.
      updates: of shape indices.shape[:-1] + x.shape[depth:].
      back: whether the last update comes first.
    """
    depth = indices.shape[-1]
    slices = x.shape[depth:]
    out = x.copy().reshape(int(np.prod(x.shape[:depth])), *slices)
    flat, inside = _place(x, indices)
    rows = updates.reshape(len(flat), *slices)
    for k in range(len(flat) - 1, -1, -1) if back else range(len(flat)):
        if inside[k]:
            out[flat[k]] = how.two(out[flat[k]], rows[k])
    return out.reshape(x.shape)


def gathered(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The slices of `x` that the tuples name, of the shape of updates; zeros for tuples out of range."""
    depth = indices.shape[-1]
    flat, inside = _place(x, indices)
    picked = (
        x.reshape(int(np.prod(x.shape[:depth])), *x.shape[depth:])[flat]
        if x.size
        else np.zeros((len(flat), *x.shape[depth:]), x.dtype)
    )
    picked[~inside] = 0
    return picked.reshape(indices.shape[:-1] + x.shape[depth:])


def pulled(how: Combination, g: np.ndarray, x: np.ndarray, indices: np.ndarray, updates: np.ndarray):
    """The VJP by the elements and by the updates, of a combination that has one.

    An upstream goes to the updates that it is read by, and to the elements that stay. That of a maximum or minimum is
    divided evenly among the elements and updates that equal it.
    """
    if how.chooses:
        out = scattered(how, x, indices, updates)
        own, theirs = x == out, updates == gathered(out, indices)
        each = g / scattered(ADD, own.astype(np.float64), indices, theirs.astype(np.float64))
        return np.where(own, each, 0), np.where(theirs, gathered(each, indices), 0)
    own = g if how.computes else scattered(UPDATE, g, indices, np.zeros_like(updates))
    return own, -gathered(g, indices) if how is SUB else gathered(g, indices)


def terms(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The number of updates that meet each element."""
    ones = np.ones(indices.shape[:-1] + x.shape[indices.shape[-1] :])
    return scattered(ADD, np.zeros(x.shape), indices, ones)
