"""Conventions: values and gradients where mathematics leaves a choice: see docs/explanations/conventions.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast


def larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The maximum: NaN if either number is NaN."""
    return np.maximum(x, y)


def smaller(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The minimum: NaN if either number is NaN."""
    return np.minimum(x, y)


def extreme_vjp(chosen: Callable[..., Any]) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """The VJP of an extreme: x gets the upstream where chosen(x, y) holds, as x >= y, and y gets it elsewhere.

    Of equal numbers x gets it; a comparison with NaN is false, so that y gets it. The other number gets zeros.
    """

    def vjp(g: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        to_x = chosen(x, y)
        return unbroadcast(np.where(to_x, g, 0), x.shape), unbroadcast(np.where(to_x, 0, g), y.shape)

    return vjp


def power_dy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The derivative of x^y by y: x^y log x for x > 0, and 0 at x = 0 and where x^y is real for x < 0.

    For x < 0 the power is real for single y only, so that no derivative exists; TensorFlow returns 0 there:
    https://github.com/tensorflow/tensorflow/issues/2295. Where x^y is NaN, so is the derivative.
    """
    power = np.power(x, y)
    nothing = np.where(np.isnan(power), power, np.copysign(0, power))
    return np.where(x > 0, power * np.log(np.where(x > 0, x, 1)), nothing)
