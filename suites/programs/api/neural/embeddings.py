"""Lookups of rows of `tf.nn`, which are linear in the rows."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import calls
from tf_opdiff.suites.forms.programs.linear import linear

_IDS = np.array([[4, 0, 4], [2, 1, 0]])
#: The rows and the ids of a sparse matrix of ids; row 1 has none. Their weights.
_ROWS, _SPARSE_IDS, _WEIGHTS = np.array([0, 0, 2]), np.array([3, 1, 4]), np.array([0.5, 2.0, 1.5])


def _dense(tf, x):
    """The numbers by way of a reshape, whose gradient is a tensor and not slices."""
    return tf.reshape(x, [5, 3])


def _sparse(tf, values):
    places = np.stack([_ROWS, [0, 1, 0]], 1)
    return tf.SparseTensor(tf.constant(places, tf.int64), values, [3, 2])


def _looked_up(name, combiner):
    """A lookup of sparse ids with weights."""

    def program(tf, x):
        ids, weights = _sparse(tf, tf.constant(_SPARSE_IDS, tf.int64)), _sparse(tf, tf.constant(_WEIGHTS, x.dtype))
        return getattr(tf.nn, name)(_dense(tf, x), ids, weights, combiner=combiner)

    def reference(x):
        each = _WEIGHTS / _divided_by(combiner)
        return np.stack([np.sum((each[:, None] * x[_SPARSE_IDS])[row == _ROWS], axis=0) for row in range(3)])

    return linear(f"nn.{name}", program, reference, steps=16)


def _divided_by(combiner):
    """The divisors of the rows: 1, the sum of their weights, or the root of the sum of squares."""
    powers = {"mean": (1, 1), "sqrtn": (2, 0.5), "sum": (1, 0)}
    power, root = powers[combiner]
    return np.array([np.sum(_WEIGHTS[row == _ROWS] ** power) ** root for row in _ROWS])


_RECIPES = {"rows": lambda draw, d: (draw.values(d, 5, 3),)}

SPECS = (
    *calls(
        "api-nn-lookup",
        linear(
            "nn.embedding_lookup",
            lambda tf, x: tf.nn.embedding_lookup(_dense(tf, x), tf.constant(_IDS)),
            lambda x: x[_IDS],
        ),
        recipes=_RECIPES,
        ops="GatherV2",
    ),
    *calls(
        "api-nn-sparse-lookup",
        *(_looked_up("embedding_lookup_sparse", combiner) for combiner in ("mean", "sqrtn", "sum")),
        *(_looked_up("safe_embedding_lookup_sparse", combiner) for combiner in ("mean", "sum")),
        recipes=_RECIPES,
        ops="GatherV2;SparseFillEmptyRows",
        modes=WITHOUT_XLA,
    ),
)
