"""Functions of `tf.math` and `tf.nn` that sum, choose and sort."""

import numpy as np
from scipy.stats import qmc

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear

_IDS = np.array([2, 0, 2, 1, -1, 0])
_COUNT = 4


def _sums(x, weights):
    """The sum of the rows of each segment, times a weight of its number of rows; no segment has a negative id."""
    rows = [x[i == _IDS] for i in range(_COUNT)]
    return np.stack([weights(max(len(own), 1)) * np.sum(own, axis=0) for own in rows])


def _isotonic(x):
    """The nonincreasing rows that are nearest to the rows of x, by the minimax formula.

    The number at a place k is the smallest, over all i up to k, of the largest mean of a block from i to any j from k.
    """
    n = x.shape[-1]
    means = np.array([[np.mean(x[:, i : j + 1], axis=-1) if i <= j else x[:, i] for j in range(n)] for i in range(n)])
    return np.stack([np.min([np.max(means[i, k:], axis=0) for i in range(k + 1)], axis=0) for k in range(n)], -1)


def _statistics(x):
    """The number of elements of a column, their sum, and the sum of their squares."""
    return np.float32(x.shape[0]), np.sum(x, axis=0), np.sum(x * x, axis=0)


def _sobol(x):
    """The points of the sequence of Sobol after the first one, 0."""
    return x * qmc.Sobol(x.shape[1], scramble=False).random(8)[1 : 1 + x.shape[0]]


SPECS = (
    *calls(
        "api-math-segments",
        linear(
            "math.unsorted_segment_mean",
            lambda tf, x: tf.math.unsorted_segment_mean(x, _IDS, _COUNT),
            lambda x: _sums(x, lambda n: 1 / n),
        ),
        linear(
            "math.unsorted_segment_sqrt_n",
            lambda tf, x: tf.math.unsorted_segment_sqrt_n(x, _IDS, _COUNT),
            lambda x: _sums(x, lambda n: n**-0.5),
        ),
        linear("math.scalar_mul", lambda tf, x: tf.math.scalar_mul(2.5, x), lambda x: 2.5 * x),
        linear(
            "nn.compute_average_loss",
            lambda tf, x: tf.nn.compute_average_loss(x[:, 0], global_batch_size=8),
            lambda x: np.sum(x[:, 0]) / 8,
        ),
        linear("nn.scale_regularization_loss", lambda tf, x: tf.nn.scale_regularization_loss(x), lambda x: np.sum(x)),
        recipes={"rows": lambda draw, d: (draw.values(d, 6, 5),)},
        ops="UnsortedSegmentSum;Mul;Sum",
    ),
    *calls(
        "api-nn-statistics",
        Call(
            name="nn.sufficient_statistics",
            program=lambda tf, x: tf.nn.sufficient_statistics(x, [0])[:3],
            reference=_statistics,
            error=lambda u, x: (0, *(8 * u * np.sum(np.abs(y), axis=0) for y in (x, x * x))),
            outputs=3,
        ),
        recipes={"rows": lambda draw, d: (draw.values(d, 4, 7),)},
        ops="Sum",
        constant=("output[0]",),
    ),
    *calls(
        "api-math-logical-xor",
        Call(
            name="math.logical_xor",
            program=lambda tf, x, y: tf.math.logical_xor(x > 0, y > 0),
            reference=lambda x, y: (x > 0) ^ (y > 0),
        ),
        recipes={"rows": lambda draw, d: (draw.values(d, 4, 7), draw.values(d, 4, 7))},
        arguments=2,
        ops="LogicalAnd;LogicalOr;LogicalNot",
    ),
    *calls(
        "api-nn-isotonic",
        Call(
            name="nn.isotonic_regression",
            program=lambda tf, x: tf.nn.isotonic_regression(x, axis=-1)[0],
            reference=_isotonic,
            error=lambda u, x: 16 * u * np.max(np.abs(x)) * np.ones(x.shape),
        ),
        recipes={"rows": lambda draw, d: (draw.values(d, 4, 7),)},
        ops="IsotonicRegression",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-math-sobol",
        linear("math.sobol_sample", lambda tf, x: x * tf.math.sobol_sample(3, 5), _sobol),
        linear("math.sobol_sample", lambda tf, x: x[1:] * tf.math.sobol_sample(3, 4, skip=1), lambda x: _sobol(x)[1:]),
        recipes={"points": lambda draw, d: (draw.values(d, 5, 3),)},
        ops="SobolSample",
    ),
)
