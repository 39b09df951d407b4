"""Open sign: the gradients that are right as well where the sign of the derivative is within its error.

There, an upstream of zero, of infinity or below the smallest normal number gives a zero of either sign, an infinity of
either sign, or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.forms.flushed import Alternatives, Kernel, VjpOf, distinct, gradient


def gradient_within(
    vjp_of: VjpOf, derivative: Callable[..., Any], kernel: Kernel, errors: Sequence[Callable[..., Any]] = ()
) -> Alternatives:
    """Alternatives of the gradient of a function of one input: flushed ones, and those of either sign.

    Args:
      vjp_of, derivative, kernel: as of `flushed.gradient`.
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
