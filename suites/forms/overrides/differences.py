"""Differences: derivatives of a rule that need not be linear, from its values in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: The step of a difference, for numbers of the size 1; a power of two, so that x + step is exact for small x.
STEP = 2.0**-10


def along_ones(rule: Callable[..., Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
    """The derivative along ones: of each element of the result, the sum of its gradients.

    Args:
      rule: rule(g, *inputs) → a gradient for each input, or None where there is none; linear in g.
      inputs: arrays; the result has the shape of the first.
    """
    total = np.zeros(inputs[0].shape)
    for at in np.ndindex(total.shape):
        one = np.zeros(total.shape)
        one[at] = 1
        total[at] = sum(np.sum(gradient) for gradient in rule(one, *inputs) if gradient is not None)
    return total


def second_derivative(
    rule: Callable[..., Any], inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The gradient of the rule at an upstream of ones, for these upstreams of its gradients.

    Central differences with two steps, of which one is half of the other, so that the error of third order cancels.
    """

    def value(*moved: np.ndarray) -> float:
        gradients = rule(np.ones_like(inputs[0]), *moved)
        pairs = zip(gradients, upstreams, strict=True)
        return float(sum(np.sum(u * gradient) for gradient, u in pairs if gradient is not None))

    def slope(i: int, at: tuple[int, ...], step: float) -> float:
        step *= max(1.0, abs(float(inputs[i][at])))
        above, below = ([x.copy() for x in inputs] for _ in range(2))
        above[i][at] += step
        below[i][at] -= step
        return (value(*above) - value(*below)) / (above[i][at] - below[i][at])

    derivatives = [np.zeros(x.shape) for x in inputs]
    for i, derivative in enumerate(derivatives):
        for at in np.ndindex(derivative.shape):
            derivative[at] = (4 * slope(i, at, STEP / 2) - slope(i, at, STEP)) / 3
    return derivatives
