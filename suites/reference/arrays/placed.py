"""Placed: the promise of an op of one result that puts each element in one place, or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.arrays.moves import Arrays, Move, numbers
from tf_opdiff.suites.reference.promises.promise import Promise


@dataclass(frozen=True)
class Placed(Promise):
    """The promise of an op of one result that puts each element in one place, or in none, and may conjugate it.

    Places that hold no element are 0, or the number of the attribute `padding`.

    Attributes:
      move: the move.
      conjugate: whether the result is conjugated.
      mistake: the move whose gradient TensorFlow computes in place of the gradient; None if its gradient is right.
    """

    move: Move
    conjugate: bool = False
    mistake: Move | None = None

    def f(self, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The elements in their new places."""
        moved = self.move(*xs, **attrs)
        return np.conj(moved) if self.conjugate and xs[0].dtype.kind == "c" else moved

    def vjp(self, g: np.ndarray, *xs: np.ndarray, **attrs: Any) -> Arrays:
        """The upstream of each element, from the place to which the element was moved."""
        elements = numbers(xs)
        places = self.move(*elements, **({**attrs, "padding": 0} if "padding" in attrs else attrs))  # 0: no element
        out = np.zeros(1 + sum(x.size for x in xs), g.dtype)
        out[places.ravel()] = g.ravel()
        out = np.conj(out) if self.conjugate and g.dtype.kind == "c" else out
        return tuple(out[number] for number in elements)

    @property
    def mistakes(self) -> dict[str, Callable[..., Any]]:
        """What TensorFlow computes in place of the result or of the gradient: see `SpecFields.mistaken`."""
        grad = {"grad": replace(self, move=self.mistake).vjp} if self.mistake else {}
        return {**grad, **({"output": self._interleaved} if self.conjugate else {})}

    def _interleaved(self, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The result of XLA for real numbers: the conjugate of each is followed by its imaginary part, -0."""
        moved = self.move(*xs, **attrs)
        parts = np.stack([moved, np.full_like(moved, -0.0)], axis=-1)
        return parts.ravel()[: moved.size].reshape(moved.shape)
