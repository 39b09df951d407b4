"""SparseConcat to SparseSplit: ops that put the values of sparse tensors in other places."""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.copies import Dtypes
from tf_opdiff.suites.forms.move_calls import Parameter, call
from tf_opdiff.suites.forms.moves import moves
from tf_opdiff.suites.forms.quantized import WITHOUT_XLA
from tf_opdiff.suites.reference import sparse as ref
from tf_opdiff.suites.reference.moves import Beside

_DTYPES = Dtypes(more=(), of_xla=(), quantized=(), quantized_without_xla=())
#: XLA has no kernel of these ops.
_USUAL = {"dtypes": _DTYPES, "modes": WITHOUT_XLA}
_INDICES = [[0, 1], [0, 4], [1, 2], [2, 0], [2, 3]]
_CUBE = [[0, 1, 3], [1, 0, 0], [1, 2, 2], [1, 2, 3]]


def _tensors(*names):
    """Arguments that are tensors of int64."""
    return tuple(Parameter(name, ("int64",)) for name in names)


def _matrix(indices, rank):
    """Indices as a matrix, even if there are none."""
    return indices or np.zeros((0, rank), int)


def _sparse(indices, shape, **more):
    """A call on a sparse tensor with a value at each of these indices."""
    return call((len(indices),), indices=_matrix(indices, len(shape)), shape=shape, **more)


def _concat(tf, *xs, indices, shapes, counts, axis):
    places = tf.split(indices, counts, num=len(xs))
    y = tf.raw_ops.SparseConcat(indices=places, values=xs, shapes=tf.unstack(shapes, len(xs)), concat_dim=axis)
    return [y.output_values, y.output_indices, y.output_shape]


def _joined(axis, *tensors):
    """A call that concatenates sparse tensors: the indices and the shape of each."""
    counts = [len(indices) for indices, _ in tensors]
    return call(
        *((n,) for n in counts),
        indices=_matrix([index for indices, _ in tensors for index in indices], len(tensors[0][1])),
        shapes=[shape for _, shape in tensors],
        counts=counts,
        axis=axis,
    )


def _reorder(tf, x, indices, shape):
    y = tf.raw_ops.SparseReorder(input_indices=indices, input_values=x, input_shape=shape)
    return [y.output_values, y.output_indices]


def _slice(tf, x, indices, shape, start, size):
    y = tf.raw_ops.SparseSlice(indices=indices, values=x, shape=shape, start=start, size=size)
    return [y.output_values, y.output_indices, y.output_shape]


def _slice_grad(tf, g, indices, start, out):
    return tf.raw_ops.SparseSliceGrad(
        backprop_val_grad=g,
        input_indices=indices,
        input_start=start,
        output_indices=out,
    )


def _split(tf, x, indices, shape, axis, num_split):
    y = tf.raw_ops.SparseSplit(split_dim=axis, indices=indices, values=x, shape=shape, num_split=num_split)
    return [*y.output_values, *y.output_indices, *y.output_shape]


_split_of = partial(_sparse, _INDICES, [3, 5])
_slice_of = partial(_sparse, _INDICES, [3, 5])


def _sliced(indices, start, out):
    """A call of the gradient of a slice: all indices, its first index, and its own indices."""
    rank = len(start)
    return call((len(out),), indices=_matrix(indices, rank), start=start, out=_matrix(out, rank))


SPECS = (
    *moves(
        "sparse-concat",
        "SparseConcat",
        _concat,
        Beside(ref.concatenated, ref.concatenated_indices),
        calls={
            "columns": _joined(1, (_INDICES, [3, 5]), ([[0, 0], [2, 1]], [3, 2])),
            "rows": _joined(0, (_INDICES, [3, 5]), ([[0, 0], [1, 1]], [2, 5])),
            "last": _joined(-1, (_CUBE, [2, 3, 4]), ([[0, 1, 0], [1, 2, 0]], [2, 3, 1]), ([[1, 2, 1]], [2, 3, 2])),
            "vectors": _joined(0, ([[1], [6]], [7]), ([[0]], [1])),
            "out_of_order": _joined(0, ([[2, 0], [0, 1]], [3, 2]), ([[1, 1], [0, 1]], [2, 2])),
            "first_empty": _joined(1, ([], [3, 5]), ([[0, 0], [2, 1]], [3, 2])),
            "both_empty": _joined(1, ([], [0, 5]), ([], [0, 2])),
            "single": _joined(0, ([[0]], [1]), ([], [0])),
        },
        small_fed={
            "none": _joined(1, ([], [3, 5]), ([], [3, 2])),
            "no_columns": _joined(1, ([], [3, 0]), ([], [3, 0])),
            "one": _joined(1, ([[0, 0]], [1, 1]), ([], [1, 0])),
        },
        tensors=_tensors("indices", "shapes", "counts"),
        run={
            "no_axis": _joined(2, (_INDICES, [3, 5]), (_INDICES, [3, 5])),
            "too_small": _joined(-3, (_INDICES, [3, 5]), (_INDICES, [3, 5])),
            "other_rows": _joined(1, (_INDICES, [3, 5]), ([[0, 0]], [4, 5])),
        },
        gradient=False,
        **_USUAL,
    ),
    *moves(
        "sparse-reorder",
        "SparseReorder",
        _reorder,
        ref.Reordered(ref.reordered, ref.reordered_indices),
        calls={
            "matrix": _sparse([[2, 0], [0, 4], [2, 3], [0, 1], [1, 2]], [3, 5]),
            "in_order": _sparse(_INDICES, [3, 5]),
            "backwards": _sparse(_CUBE[::-1], [2, 3, 4]),
            "vector": _sparse([[6], [0], [3]], [7]),
            "rank5": _sparse([[0, 1, 0, 2, 1], [0, 0, 0, 2, 2], [0, 1, 0, 0, 1]], [1, 2, 1, 3, 3]),
            "beyond_int32": _sparse([[2**33, 1], [2**32 + 1, 0], [7, 2**34]], [2**34, 2**35]),
            "empty": _sparse([], [0, 3]),
            "single": _sparse([[0]], [1]),
        },
        small_fed={"none": _sparse([], [3, 5]), "no_rows": _sparse([], [0, 5]), "one": _sparse([[0, 0]], [1, 1])},
        tensors=_tensors("indices", "shape"),
        built={"vector": call((3,), indices=[0, 1, 2], shape=[3])},
        run={
            "too_few": call((3,), indices=[[0, 1], [1, 0]], shape=[2, 2]),
            "other_rank": _sparse([[0, 1], [1, 0]], [2, 2, 2]),
        },
        **_USUAL,
    ),
    *moves(
        "sparse-slice",
        "SparseSlice",
        _slice,
        Beside(ref.sliced, ref.slice_indices),
        calls={
            "matrix": _slice_of(start=[1, 0], size=[2, 3]),
            "whole": _slice_of(start=[0, 0], size=[3, 5]),
            "rest": _slice_of(start=[1, 2], size=[9, 2**40]),
            "nothing": _slice_of(start=[0, 2], size=[1, 2]),
            "no_rows": _slice_of(start=[1, 1], size=[0, 3]),
            "beyond_end": _slice_of(start=[4, 1], size=[2, 3]),
            "out_of_order": _sparse([[2, 1], [1, 1], [0, 0]], [3, 4], start=[1, 0], size=[2, 2]),
            "cube": _sparse(_CUBE, [2, 3, 4], start=[1, 0, 1], size=[1, 3, 3]),
            "empty": _sparse([], [0, 3], start=[0, 1], size=[0, 1]),
            "single": _sparse([[0]], [1], start=[0], size=[1]),
        },
        small_fed={
            "none": _sparse([], [3, 5], start=[1, 0], size=[1, 2]),
            "no_rows": _sparse([], [0, 5], start=[0, 1], size=[1, 2]),
            "one": _sparse([[0, 0]], [1, 1], start=[0, 0], size=[1, 1]),
            "none_of_one": _sparse([[0, 0]], [1, 1], start=[0, 1], size=[1, 1]),
        },
        tensors=_tensors("indices", "shape", "start", "size"),
        second=False,
        run={
            "vector": call((3,), indices=[0, 1, 2], shape=[3], start=[0], size=[1]),
            "negative_size": _slice_of(start=[1, 0], size=[-1, 2]),
            "too_few": _slice_of(start=[1], size=[2]),
            "other_rank": _sparse(_INDICES, [3, 5, 1], start=[0, 0, 0], size=[1, 1, 1]),
            "fewer_values": call((3,), indices=_INDICES, shape=[3, 5], start=[0, 0], size=[1, 1]),
        },
        **_USUAL,
    ),
    *moves(
        "sparse-slice-grad",
        "SparseSliceGrad",
        _slice_grad,
        ref.spread,
        calls={
            "matrix": _sliced(_INDICES, [1, 0], [[0, 2], [1, 0]]),
            "whole": _sliced(_INDICES, [0, 0], _INDICES),
            "nothing": _sliced(_INDICES, [0, 2], []),
            "cube": _sliced(_CUBE, [1, 0, 1], [[0, 2, 1], [0, 2, 2]]),
            "empty": _sliced([], [0, 0], []),
            "single": _sliced([[0]], [0], [[0]]),
        },
        small_fed={
            "none": _sliced([], [1, 0], []),
            "one": _sliced([[0, 0]], [0, 0], [[0, 0]]),
            "none_of_one": _sliced([[0, 0]], [0, 1], []),
        },
        tensors=_tensors("indices", "start", "out"),
        gradient=False,
        modes=WITHOUT_XLA,
        dtypes=Dtypes(
            rough=("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            more=(),
            of_xla=(),
            without_xla=(),
            quantized=(),
            quantized_without_xla=(),
        ),
    ),
    *moves(
        "sparse-split",
        "SparseSplit",
        _split,
        Beside(ref.split, ref.split_indices),
        calls={
            "columns": _split_of(axis=1, num_split=2),
            "rows": _split_of(axis=0, num_split=3),
            "last": _split_of(axis=-1, num_split=5),
            "one_part": _split_of(axis=1, num_split=1),
            "cube": _sparse(_CUBE, [2, 3, 4], axis=2, num_split=3),
            "vector": _sparse([[1], [2], [6]], [7], axis=0, num_split=4),
            "out_of_order": _sparse([[2, 1], [0, 3], [1, 0]], [3, 4], axis=1, num_split=2),
            "empty": _sparse([], [3, 4], axis=1, num_split=2),
            "single": _sparse([[0]], [1], axis=0, num_split=1),
        },
        small_fed={
            "none": _sparse([], [3, 5], axis=1, num_split=1),
            "no_columns": _sparse([], [0, 5], axis=1, num_split=1),
            "one": _sparse([[0, 0]], [1, 1], axis=1, num_split=1),
        },
        tensors=_tensors("indices", "shape", "axis"),
        run={
            "vector": call((3,), indices=[0, 1, 2], shape=[3], axis=0, num_split=1),
            "no_axis": _split_of(axis=2, num_split=2),
            "too_small": _split_of(axis=-3, num_split=2),
            "too_many": _split_of(axis=0, num_split=4),
            "vector_axis": _split_of(axis=[0], num_split=2),
            "out_of_bounds": _sparse([[0, 1], [1, 9]], [3, 5], axis=1, num_split=2),
            "negative": _sparse([[0, 1], [1, -1]], [3, 5], axis=1, num_split=2),
            "other_rank": _sparse(_INDICES, [3, 5, 1], axis=1, num_split=2),
            "fewer_values": call((3,), indices=_INDICES, shape=[3, 5], axis=1, num_split=2),
        },
        gradient=False,
        **_USUAL,
    ),
)
