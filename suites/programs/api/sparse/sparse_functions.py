"""Functions of `tf.sparse`, as those of a dense matrix with zeros: https://www.tensorflow.org/api_docs/python/tf/sparse.

A program gets the values of a sparse matrix, and returns its result as a dense one.
"""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls

#: The places of the values: row 1 is empty.
PLACES, SHAPE = ((0, 1), (0, 3), (2, 0), (2, 2), (2, 4)), (3, 5)
COUNT = len(PLACES)


def sparse(tf, x, places=PLACES, shape=SHAPE):
    """The sparse matrix of the values."""
    return tf.SparseTensor(places, x, shape)


def dense(x, places=PLACES, shape=SHAPE):
    """The matrix of the values; zeros elsewhere."""
    y = np.zeros(shape, x.dtype)
    y[tuple(np.transpose(places))] = x
    return y


def _dense(name, program, reference, **fields):
    """A call whose result is sparse; program(tf, a) gets the sparse matrix, and reference(a) the dense one."""
    return Call(
        name=f"sparse.{name}",
        program=lambda tf, x: tf.sparse.to_dense(program(tf, sparse(tf, x))),
        reference=lambda x: reference(dense(x)),
        **fields,
    )


def _number(name, program, reference, **fields):
    """A call whose result is dense."""
    return Call(
        name=f"sparse.{name}",
        program=lambda tf, x: program(tf, sparse(tf, x)),
        reference=lambda x: reference(dense(x)),
        **fields,
    )


def _softmax(x):
    """The shares of the values of each row, without the zeros elsewhere."""
    rows = [np.exp(part - np.max(part)) for part in (x[:2], x[2:])]
    return dense(np.concatenate([row / np.sum(row) for row in rows]))


def _filled(tf, x):
    filled, empty = tf.sparse.fill_empty_rows(sparse(tf, x), tf.constant(7, x.dtype))
    return tf.sparse.to_dense(filled), empty


def _with_row(a, number):
    """The matrix with a number in front of its empty row."""
    a[1, 0] = number
    return a


_FACTOR = np.arange(1.0, 16).reshape(5, 3)


def values(draw, dtype):
    """A recipe: values of both signs, without zeros."""
    return (((1 + draw.uniform(COUNT, low=0, high=3)) * np.where(np.arange(COUNT) % 2, 1, -1)).astype(dtype),)


SPECS = (
    *calls(
        "api-sparse-moves",
        _dense("expand_dims", lambda tf, a: tf.sparse.expand_dims(a, 1), lambda a: a[:, None]),
        _dense("map_values", lambda tf, a: tf.sparse.map_values(tf.math.negative, a), lambda a: -a, signed=False),
        _dense("reset_shape", lambda tf, a: tf.sparse.reset_shape(a, [4, 5]), lambda a: np.pad(a, ((0, 1), (0, 0)))),
        _dense("reshape", lambda tf, a: tf.sparse.reshape(a, [5, -1]), lambda a: a.reshape(5, 3)),
        _dense(
            "retain",
            lambda tf, a: tf.sparse.retain(a, [True, False, False, True, True]),
            lambda a: a * (np.isin(np.arange(15), (1, 12, 14)).reshape(SHAPE)),
            signed=False,
        ),
        _number("to_dense", lambda tf, a: tf.sparse.to_dense(a, 7), lambda a: np.where(a == 0, 7, a)),
        recipes={"values": values},
        tier="full",
    ),
    *calls(
        "api-sparse-places",
        _dense("add", lambda tf, a: tf.sparse.add(a, tf.sparse.reorder(a)), lambda a: a + a),
        _dense("concat", lambda tf, a: tf.sparse.concat(1, [a, a]), lambda a: np.concatenate([a, a], 1)),
        _dense("maximum", lambda tf, a: tf.sparse.maximum(a, tf.sparse.reorder(a)), lambda a: a),
        _dense(
            "minimum",
            lambda tf, a: tf.sparse.minimum(a, tf.sparse.map_values(tf.math.negative, a)),
            lambda a: -np.abs(a),
            signed=False,
        ),
        Call(
            name="sparse.reorder",
            program=lambda tf, x: tf.sparse.to_dense(tf.sparse.reorder(sparse(tf, x, PLACES[::-1]))),
            reference=lambda x: dense(x, PLACES[::-1]),
        ),
        _dense("slice", lambda tf, a: tf.sparse.slice(a, [1, 1], [2, 3]), lambda a: a[1:3, 1:4]),
        Call(
            name="sparse.split",
            program=lambda tf, x: [
                tf.sparse.to_dense(part) for part in tf.sparse.split(sparse(tf, x), num_split=2, axis=1)
            ],
            reference=lambda x: (dense(x)[:, :3], dense(x)[:, 3:]),
            outputs=2,
        ),
        _dense("transpose", lambda tf, a: tf.sparse.transpose(a), lambda a: a.T),
        Call(
            name="sparse.fill_empty_rows",
            program=lambda tf, x: _filled(tf, x),
            reference=lambda x: (_with_row(dense(x), 7), np.array([False, True, False])),
            outputs=2,
        ),
        recipes={"values": values},
        constant=("output[10]",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    *calls(
        "api-sparse-numbers",
        _number("reduce_max", lambda tf, a: tf.sparse.reduce_max(a, 0), lambda a: np.where(a == 0, -np.inf, a).max(0)),
        _number("reduce_sum", lambda tf, a: tf.sparse.reduce_sum(a, 1), lambda a: a.sum(1), ulp=4),
        Call(
            name="sparse.softmax",
            program=lambda tf, x: tf.sparse.to_dense(tf.sparse.softmax(sparse(tf, x))),
            reference=_softmax,
            error=lambda u, x: 16 * u * _softmax(x),
        ),
        _number(
            "sparse_dense_matmul",
            lambda tf, a: tf.sparse.sparse_dense_matmul(a, tf.constant(_FACTOR, a.dtype)),
            lambda a: a @ _FACTOR,
            error=lambda u, x: 8 * u * (np.abs(dense(x)) @ _FACTOR),
        ),
        recipes={"values": values},
        modes=WITHOUT_XLA,
        tier="full",
    ),
)
