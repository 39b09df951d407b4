"""Independence: tests of the pairs of a stream of random numbers, with a stated rate of false alarms.

Of two independent numbers, both are at most x, or both above x, with the probability p² + (1 - p)², where p is F(x).
For each lag, n numbers form n / 2 pairs that share no number. Independent pairs exceed the tolerance of their share
with the probability `FALSE_ALARMS` for each lag and column: Hoeffding's inequality,
https://doi.org/10.1080/01621459.1963.10500830. A stream that repeats itself has equal pairs alone at its period.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: The probability that independent pairs fail, for each lag and column.
FALSE_ALARMS = 1e-9


def lags(count: int) -> tuple[int, ...]:
    """The powers of two up to half of the numbers, which form pairs of `count` numbers, itself a power of two."""
    return tuple(2**k for k in range(int(math.log2(count))))


def tolerance(count: int) -> float:
    """How far the share of the pairs of so many numbers may be off."""
    return math.sqrt(math.log(2 / FALSE_ALARMS) / count)


def paired(tf: Any, numbers: Any, at: Any, expected: Any, count: int) -> Any:
    """Whether the pairs of each lag are as those of independent numbers.

    Args:
      tf: TensorFlow.
      numbers: of shape (count, columns).
      at: the x of each column.
      expected: float64, F(x) of each column.
      count: a power of two.

    Returns:
      bool, of shape (lags, columns).
    """
    below = tf.cast(tf.cast(numbers, "float64") <= tf.cast(at, "float64"), "float64")
    right = expected * expected + (1 - expected) * (1 - expected)
    shares = []
    for lag in lags(count):
        pairs = tf.reshape(below, [count // (2 * lag), 2, lag, -1])
        shares.append(tf.reduce_mean(1 - tf.abs(pairs[:, 0] - pairs[:, 1]), axis=[0, 1]))
    return tf.abs(tf.stack(shares) - right) <= tf.constant(tolerance(count), "float64")


def middle(at: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point of each column whose F(x) is nearest to 1/2, and F(x) there; both have the shape (points, columns)."""
    rows = np.argmin(np.abs(expected - 0.5), axis=0)[None]
    return np.take_along_axis(at, rows, 0)[0], np.take_along_axis(expected, rows, 0)[0]
