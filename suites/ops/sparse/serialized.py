"""DeserializeSparse: sparse tensors out of texts or variants, one or a batch.

No kernel serializes floats of 8 bits and numbers of fewer bits; texts of these are inputs.
"""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Refused
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, matrix, sparse, tensors
from tf_opdiff.suites.reference.arrays.moves import MovedWith
from tf_opdiff.suites.reference.arrays.tensor_proto import SMALL, array_of, text_of
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref


def _serialized(tf, x, indices, shape, kind):
    """A sparse tensor as texts or variants; only a CPU has the kernel."""
    with tf.device("/CPU:0"):
        return tf.raw_ops.SerializeSparse(
            sparse_indices=indices, sparse_values=x, sparse_shape=shape, out_type=getattr(tf, kind)
        )


def _one(tf, x, indices, shape, kind, dtype=None):
    y = tf.raw_ops.DeserializeSparse(
        serialized_sparse=_serialized(tf, x, indices, shape, kind), dtype=getattr(tf, dtype) if dtype else x.dtype
    )
    return [y.sparse_values, y.sparse_indices, y.sparse_shape]


def _batch(tf, x, z, kind, **places):
    first = _serialized(tf, x, places["indices"], places["shape"], kind)
    second = _serialized(tf, z, places["others"], places["other_shape"], kind)
    serialized = tf.stack([first, second])
    y = tf.raw_ops.DeserializeSparse(serialized_sparse=serialized, dtype=x.dtype)
    return [y.sparse_values, y.sparse_indices, y.sparse_shape]


def _pair(indices, shape, others, other_shape, kind):
    """A call on two sparse tensors of one rank."""
    return call(
        (len(indices),),
        (len(others),),
        indices=matrix(indices, len(shape)),
        shape=shape,
        others=matrix(others, len(other_shape)),
        other_shape=other_shape,
        kind=kind,
    )


def _texts(draw, dtype, indices, shape):
    """The texts of the indices, the values and the shape of a sparse tensor."""
    parts = (np.array(matrix(indices, len(shape)), np.int64), draw.values(dtype, len(indices)), np.array(shape))
    return (np.array([text_of(part) for part in parts], object),)


def _of_texts(dtype):
    """A part: a dtype whose values no kernel serializes."""

    def program(tf, texts):
        y = tf.raw_ops.DeserializeSparse(serialized_sparse=texts, dtype=dtype)
        return y.sparse_indices, y.sparse_values, y.sparse_shape

    return part(
        f"-{dtype.replace('_', '-')}",
        program=program,
        reference=lambda texts: tuple(map(array_of, texts)),
        recipes={
            label: lambda draw, dtype, place=place: _texts(draw, dtype, *place)
            for label, place in {
                "matrix": (INDICES, [3, 5]),
                "cube": (CUBE, [2, 3, 4]),
                "no_values": ([], [3, 5]),
                "single": ([[0]], [1]),
            }.items()
        },
        dtypes=(dtype,),
        tier="full",
    )


_KINDS = ("string", "variant")
#: What the kernel refuses: another dtype.
_REFUSED = {f"other_dtype_{kind}": sparse(INDICES, [3, 5], kind=kind, dtype="int32") for kind in _KINDS}
_SETTINGS = {"modes": WITHOUT_XLA, "dtypes": COMMON, "gradient": False}

SPECS = (
    *op(
        "deserialize-sparse",
        "DeserializeSparse",
        *map(_of_texts, SMALL),
        program=_one,
        promise=MovedWith(
            lambda x, indices, shape, kind: x, lambda indices, shape, kind: ref.own_places(indices, shape)
        ),
        calls={
            f"{label}_{kind}": replace(one, attrs={**one.attrs, "kind": kind})
            for kind in _KINDS
            for label, one in {
                "matrix": sparse(INDICES, [3, 5]),
                "cube": sparse(CUBE, [2, 3, 4]),
                "vector": sparse([[1], [6]], [7]),
                "no_values": sparse([], [3, 5]),
                "no_rows": sparse([], [0, 5]),
                "single": sparse([[0]], [1]),
            }.items()
        },
        small_fed={
            "none": sparse([], [3, 5], kind="variant"),
            "no_rows": sparse([], [0, 5], kind="variant"),
            "one": sparse([[0, 0]], [1, 1], kind="variant"),
        },
        tensors=tensors("indices", "shape"),
        refused={"dtype": Refused(_REFUSED, IN_KERNEL)},
        **_SETTINGS,
    ),
    *op(
        "deserialize-sparse-batch",
        "DeserializeSparse",
        program=_batch,
        promise=MovedWith(lambda x, z, **parameters: np.concatenate([x, z]), ref.batched_places),
        calls={
            f"{label}_{kind}": _pair(*pair, kind)
            for kind in _KINDS
            for label, pair in {
                "one_shape": (INDICES, [3, 5], [[0, 0], [2, 4]], [3, 5]),
                "other_shapes": (INDICES, [3, 5], [[4, 1]], [6, 2]),
                "first_empty": ([], [3, 5], [[1, 2]], [3, 5]),
                "no_values": ([], [2], [], [3]),
            }.items()
        },
        tensors=tensors("indices", "shape", "others", "other_shape"),
        run={"other_rank": _pair(INDICES, [3, 5], CUBE, [2, 3, 4], "variant")},
        **_SETTINGS,
    ),
)
