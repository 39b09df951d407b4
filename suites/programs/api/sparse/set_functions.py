"""Functions of `tf.sets`: https://www.tensorflow.org/api_docs/python/tf/sets. Each row is a set."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls

_SHAPE = (3, 4)


def _of_sets(name, combined):
    """A function of two sets, as a dense matrix filled up with -1."""
    return Call(
        name=f"sets.{name}",
        program=lambda tf, x, y: tf.sparse.to_dense(getattr(tf.sets, name)(x, y), -1),
        reference=lambda x, y: _filled([combined(a, b) for a, b in zip(x, y, strict=True)]),
    )


def _filled(rows):
    """Rows of several lengths as a matrix, filled up with -1."""
    width = max(map(len, rows))
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], rows[0].dtype)


def _sets(draw, dtype):
    """A recipe: numbers from 0 to 5, some of them twice in a row."""
    return tuple(draw.integers(*_SHAPE, low=0, high=6).astype(dtype) for _ in range(2))


SPECS = (
    *calls(
        "api-sets",
        _of_sets("difference", np.setdiff1d),
        _of_sets("intersection", np.intersect1d),
        _of_sets("union", np.union1d),
        Call(
            name="sets.size",
            program=lambda tf, x, y: tf.sets.size(tf.sparse.from_dense(x + 1)),
            reference=lambda x, y: np.array([len(set(row)) for row in x.tolist()], np.int32),
        ),
        recipes={"sets": _sets},
        arguments=2,
        dtypes=("int32", "int64"),
        modes=WITHOUT_XLA,
        full_dtypes=("int64",),
    ),
)
