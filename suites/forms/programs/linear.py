"""Linear: calls of public functions that are linear in each of their inputs' elements together.

The matrix of such a function is that of its values at the unit vectors: it gives the gradient and the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call

Function = Callable[..., Any]


def linear(name: str, program: Function, f: Function, *, mixed: bool = False, steps: int = 4) -> Call:
    """A call of a function of one real tensor, linear, with one output.

    Args:
      name: as of a call.
      program: as of a call.
      f: the function, of a NumPy array; only the shape may decide what it does.
      mixed: whether each output element may have the rounding error of all, as of a fast transform.
      steps: how many roundings there are besides those of the sum.
    """

    @cache
    def matrix(shape: tuple[int, ...]) -> np.ndarray:
        """The matrix M of the shape, with f(x) = x M."""
        size = int(np.prod(shape))
        units = np.eye(size).reshape(size, *shape)
        return np.array([np.ravel(f(unit)) for unit in units])

    def error(u: float, x: np.ndarray) -> np.ndarray:
        """(n + steps) u |x| |M|: n products are added, each with the error of its factors."""
        own = np.abs(x).ravel() @ np.abs(matrix(x.shape))
        return _bound(u, own, matrix(x.shape)).reshape(np.shape(f(x)))

    def grad_error(u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
        return _bound(u, np.abs(matrix(x.shape)) @ np.abs(g).ravel(), matrix(x.shape).T).reshape(x.shape)

    def _bound(u: float, own: np.ndarray, entries: np.ndarray) -> np.ndarray:
        terms = np.max(np.count_nonzero(entries, axis=0), initial=1)
        return (terms + steps) * u * (np.full(own.shape, np.max(own, initial=0)) if mixed else own)

    return Call(
        name=name,
        program=program,
        reference=f,
        vjp=lambda g, x: (matrix(x.shape) @ np.ravel(g)).reshape(x.shape),
        error=error,
        grad_error=grad_error,
        signed=False,
    )
