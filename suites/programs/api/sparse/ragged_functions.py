"""Functions of `tf.ragged`: https://www.tensorflow.org/api_docs/python/tf/ragged.

A program returns the values of a ragged tensor and its row splits.
"""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.keras.fingerprints import crossed

#: Rows of 2, 0 and 3 values.
_SPLITS = (0, 2, 2, 5)
_ROWS = (slice(0, 2), slice(2, 2), slice(2, 5))


def _ragged(tf, x):
    return tf.RaggedTensor.from_row_splits(x, tf.constant(_SPLITS, tf.int64))


def _parts(tf, a):
    """The values and the row splits; nothing documents the dtype of these."""
    return a.flat_values, tf.cast(a.row_splits, tf.int64)


def _rows(*rows):
    """The values of rows, one after the other, and their splits."""
    values = np.concatenate([row for row in rows if len(row)])
    return values, np.cumsum([0, *map(len, rows)])


def _of_parts(name, program, reference):
    return Call(
        name=f"ragged.{name}",
        program=lambda tf, x: _parts(tf, program(tf, x)),
        reference=reference,
        outputs=2,
    )


def _values(draw, dtype):
    return (draw.integers(5, low=1, high=9).astype(dtype),)


SPECS = (
    *calls(
        "api-ragged-moves",
        _of_parts(
            "boolean_mask",
            lambda tf, x: tf.ragged.boolean_mask(
                _ragged(tf, x),
                tf.RaggedTensor.from_row_splits([True, False, False, True, True], tf.constant(_SPLITS, tf.int64)),
            ),
            lambda x: _rows(x[:1], x[:0], x[3:]),
        ),
        _of_parts(
            "map_flat_values",
            lambda tf, x: tf.ragged.map_flat_values(tf.math.negative, _ragged(tf, x)),
            lambda x: _rows(*(-x[row] for row in _ROWS)),
        ),
        _of_parts(
            "stack",
            lambda tf, x: tf.ragged.stack([x[:2], x], axis=0),
            lambda x: _rows(x[:2], x),
        ),
        _of_parts(
            "stack_dynamic_partitions",
            lambda tf, x: tf.ragged.stack_dynamic_partitions(x, tf.constant([2, 0, 0, 2, 0]), 3),
            lambda x: _rows(x[[1, 2, 4]], x[:0], x[[0, 3]]),
        ),
        recipes={"values": _values},
        constant=("output[1]", "output[3]", "output[5]", "output[7]"),
        dtypes=("float32", "int64"),
        full_dtypes=("int64",),
    ),
    *calls(
        "api-ragged-integers",
        _of_parts(
            "range",
            lambda tf, x: tf.ragged.range(x, 3 * x, 2),
            lambda x: _rows(*(np.arange(first, 3 * first, 2) for first in x)),
        ),
        Call(
            name="ragged.row_splits_to_segment_ids",
            program=lambda tf, x: tf.ragged.row_splits_to_segment_ids(tf.cumsum(x, exclusive=True)),
            reference=lambda x: np.repeat(np.arange(4), x[:-1]),
        ),
        Call(
            name="ragged.segment_ids_to_row_splits",
            program=lambda tf, x: tf.ragged.segment_ids_to_row_splits(tf.cumsum(x)),
            reference=lambda x: np.searchsorted(np.cumsum(x), np.arange(np.sum(x) + 2)),
        ),
        _of_parts(
            "cross_hashed",
            lambda tf, x: tf.ragged.cross_hashed([_ragged(tf, x), _ragged(tf, x)], num_buckets=1009),
            lambda x: _rows(*([crossed([int(a), int(b)], 1009) for a in x[row] for b in x[row]] for row in _ROWS)),
        ),
        Call(
            name="ragged.cross",
            program=lambda tf, x: tf.strings.length(
                tf.ragged.cross([_ragged(tf, x), _ragged(tf, x + 995)]).flat_values
            ),
            reference=lambda x: np.array(
                [len(f"{a}_X_{b + 995}") for row in _ROWS for a in x[row] for b in x[row]], np.int32
            ),
        ),
        recipes={"values": _values},
        dtypes=("int64",),
        constant=("output[5]",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    *calls(
        "api-ragged-made",
        _of_parts(
            "constant",
            lambda tf, x: tf.ragged.constant([[1.0, 2.0], [], [3.0]]),
            lambda x: (np.array([1, 2, 3], np.float32), np.array([0, 2, 2, 3])),
        ),
        recipes={"values": _values},
        constant=("output[0]", "output[1]"),
        tier="full",
    ),
)
