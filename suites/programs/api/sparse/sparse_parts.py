"""Functions of `tf.sparse` that take or give parts of sparse tensors: places, slices, rows, whole numbers."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.programs.api.sparse.sparse_functions import COUNT, PLACES, SHAPE, sparse, values
from tf_opdiff.suites.reference.keras.fingerprints import crossed

_LEFT, _RIGHT = np.arange(1.0, 7).reshape(3, 2), np.arange(-4.0, 6).reshape(2, 5)
#: The rows of a segment function, and their segments.
_ROWS, _SEGMENTS = (0, 2, 1, 2), (0, 0, 1, 1)


def _of_segments(name, scale):
    """Rows that are added; `scale` is what a sum of two rows is divided by."""
    return Call(
        name=f"sparse.segment_{name}",
        program=lambda tf, x: getattr(tf.sparse, f"segment_{name}")(
            tf.reshape(tf.concat([x, x[:1]], 0), (3, 2)), _ROWS, _SEGMENTS
        ),
        reference=lambda x: _segments(np.append(x, x[0]).reshape(3, 2)) / scale,
        ulp=2,
    )


def _segments(rows):
    return np.stack([rows[0] + rows[2], rows[1] + rows[2]])


def _places(a):
    return a.indices, a.values


def _whole(draw, dtype):
    """A recipe: whole numbers from 1 on."""
    return (draw.integers(COUNT, low=1, high=9).astype(dtype),)


SPECS = (
    *calls(
        "api-sparse-of-dense",
        Call(
            name="sparse.from_dense",
            program=lambda tf, x: _places(tf.sparse.from_dense(tf.maximum(x, 0))),
            reference=lambda x: (np.argwhere(x > 0), x[x > 0]),
            outputs=2,
        ),
        recipes={"values": values},
        tier="full",
    ),
    *calls(
        "api-sparse-segments",
        _of_segments("sum", 1),
        _of_segments("mean", 2),
        _of_segments("sqrt_n", np.sqrt(2)),
        recipes={"values": values},
        modes=WITHOUT_XLA,
        tier="full",
    ),
    *calls(
        "api-sparse-slices",
        Call(
            name="sparse.mask",
            program=lambda tf, x: _places(tf.sparse.mask(tf.IndexedSlices(x, tf.constant([4, 1, 7, 0, 2])), [1, 0])),
            reference=lambda x: (np.array([4, 7, 2], np.int32), x[[0, 2, 4]]),
            outputs=2,
        ),
        recipes={"values": values},
        constant=("output[0]",),
        tier="full",
    ),
    *calls(
        "api-sparse-made",
        Call(
            name="sparse.eye",
            program=lambda tf, x: tf.sparse.to_dense(tf.sparse.eye(3, 4)),
            reference=lambda x: np.eye(3, 4, dtype=np.float32),
        ),
        recipes={"values": values},
        constant=("output[0]",),
        tier="full",
    ),
    *calls(
        "api-sparse-of-integers",
        Call(
            name="sparse.bincount",
            program=lambda tf, x: tf.sparse.to_dense(tf.sparse.bincount(x, minlength=10, maxlength=10)),
            reference=lambda x: np.bincount(x, minlength=10),
        ),
        Call(
            name="sparse.to_indicator",
            program=lambda tf, x: tf.sparse.to_indicator(sparse(tf, x), 9),
            reference=lambda x: np.stack([np.isin(np.arange(9), part) for part in (x[:2], x[:0], x[2:])]),
        ),
        Call(
            name="sparse.cross_hashed",
            program=lambda tf, x: tf.sparse.cross_hashed([sparse(tf, x), sparse(tf, x)], num_buckets=1009).values,
            reference=lambda x: np.array(
                [crossed([int(a), int(b)], 1009) for part in (x[:2], x[2:]) for a in part for b in part]
            ),
        ),
        Call(
            name="sparse.cross",
            program=lambda tf, x: tf.strings.length(
                tf.sparse.cross([sparse(tf, x), tf.sparse.map_values(lambda y: y + 995, sparse(tf, x))]).values
            ),
            reference=lambda x: np.array(
                [len(f"{a}_X_{b + 995}") for part in (x[:2], x[2:]) for a in part for b in part], np.int32
            ),
        ),
        recipes={"values": _whole},
        dtypes=("int64",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    *calls(
        "api-sparse-sampled",
        Call(
            name="sparse.sampled_addmm",
            program=lambda tf, x: tf.sparse.sampled_addmm(
                tf.constant(PLACES),
                x,
                tf.constant(SHAPE),
                tf.constant(_LEFT, x.dtype),
                tf.constant(_RIGHT, x.dtype),
                alpha=0.75,
                beta=0.25,
            )[1],
            reference=lambda x: 0.75 * (_LEFT @ _RIGHT)[tuple(np.transpose(PLACES))] + 0.25 * x,
            error=lambda u, x: 8 * u * ((_LEFT @ np.abs(_RIGHT))[tuple(np.transpose(PLACES))] + np.abs(x)),
        ),
        recipes={"values": values},
        tier="full",
    ),
)
