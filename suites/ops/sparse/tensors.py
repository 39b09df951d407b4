"""SparseConcat to SparseSplit: ops that put the values of sparse tensors in other places."""

from dataclasses import replace
from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, matrix, sparse, tensors
from tf_opdiff.suites.reference.arrays.moves import Forward, MovedWith
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref

#: XLA has no kernel of these ops.
_USUAL = {"dtypes": COMMON, "modes": WITHOUT_XLA}


def _concat(tf, *xs, indices, shapes, counts, axis):
    places = tf.split(indices, counts, num=len(xs))
    y = tf.raw_ops.SparseConcat(indices=places, values=xs, shapes=tf.unstack(shapes, len(xs)), concat_dim=axis)
    return [y.output_values, y.output_indices, y.output_shape]


def _joined(axis, *parts):
    """A call that concatenates sparse tensors: the indices and the shape of each."""
    counts = [len(indices) for indices, _ in parts]
    return call(
        *((n,) for n in counts),
        indices=matrix([index for indices, _ in parts for index in indices], len(parts[0][1])),
        shapes=[shape for _, shape in parts],
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
    return tf.raw_ops.SparseSliceGrad(backprop_val_grad=g, input_indices=indices, input_start=start, output_indices=out)


def _split(tf, x, indices, shape, axis, num_split):
    y = tf.raw_ops.SparseSplit(split_dim=axis, indices=indices, values=x, shape=shape, num_split=num_split)
    return [*y.output_values, *y.output_indices, *y.output_shape]


_split_of = partial(sparse, INDICES, [3, 5])
_slice_of = partial(sparse, INDICES, [3, 5])


def _sliced(indices, start, out):
    """A call of the gradient of a slice: all indices, its first index, and its own indices."""
    rank = len(start)
    return call((len(out),), indices=matrix(indices, rank), start=start, out=matrix(out, rank))


SPECS = (
    *op(
        "sparse-concat",
        "SparseConcat",
        program=_concat,
        promise=MovedWith(ref.concatenated, ref.concatenated_indices),
        calls={
            "columns": _joined(1, (INDICES, [3, 5]), ([[0, 0], [2, 1]], [3, 2])),
            "rows": _joined(0, (INDICES, [3, 5]), ([[0, 0], [1, 1]], [2, 5])),
            "last": _joined(-1, (CUBE, [2, 3, 4]), ([[0, 1, 0], [1, 2, 0]], [2, 3, 1]), ([[1, 2, 1]], [2, 3, 2])),
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
        tensors=tensors("indices", "shapes", "counts"),
        run={
            "no_axis": _joined(2, (INDICES, [3, 5]), (INDICES, [3, 5])),
            "too_small": _joined(-3, (INDICES, [3, 5]), (INDICES, [3, 5])),
            "other_rows": _joined(1, (INDICES, [3, 5]), ([[0, 0]], [4, 5])),
        },
        gradient=False,
        **_USUAL,
    ),
    *op(
        "sparse-reorder",
        "SparseReorder",
        program=_reorder,
        promise=ref.Reordered(ref.reordered, ref.reordered_indices),
        calls={
            "matrix": sparse([[2, 0], [0, 4], [2, 3], [0, 1], [1, 2]], [3, 5]),
            "in_order": sparse(INDICES, [3, 5]),
            "backwards": sparse(CUBE[::-1], [2, 3, 4]),
            "vector": sparse([[6], [0], [3]], [7]),
            "rank5": sparse([[0, 1, 0, 2, 1], [0, 0, 0, 2, 2], [0, 1, 0, 0, 1]], [1, 2, 1, 3, 3]),
            "beyond_int32": sparse([[2**33, 1], [2**32 + 1, 0], [7, 2**34]], [2**34, 2**35]),
            "empty": sparse([], [0, 3]),
            "single": sparse([[0]], [1]),
        },
        small_fed={"none": sparse([], [3, 5]), "no_rows": sparse([], [0, 5]), "one": sparse([[0, 0]], [1, 1])},
        tensors=tensors("indices", "shape"),
        built={"vector": call((3,), indices=[0, 1, 2], shape=[3])},
        run={
            "too_few": call((3,), indices=[[0, 1], [1, 0]], shape=[2, 2]),
            "other_rank": sparse([[0, 1], [1, 0]], [2, 2, 2]),
        },
        **_USUAL,
    ),
    *op(
        "sparse-slice",
        "SparseSlice",
        program=_slice,
        promise=MovedWith(ref.sliced, ref.slice_indices),
        calls={
            "matrix": _slice_of(start=[1, 0], size=[2, 3]),
            "whole": _slice_of(start=[0, 0], size=[3, 5]),
            "rest": _slice_of(start=[1, 2], size=[9, 2**40]),
            "nothing": _slice_of(start=[0, 2], size=[1, 2]),
            "no_rows": _slice_of(start=[1, 1], size=[0, 3]),
            "beyond_end": _slice_of(start=[4, 1], size=[2, 3]),
            "out_of_order": sparse([[2, 1], [1, 1], [0, 0]], [3, 4], start=[1, 0], size=[2, 2]),
            "cube": sparse(CUBE, [2, 3, 4], start=[1, 0, 1], size=[1, 3, 3]),
            "empty": sparse([], [0, 3], start=[0, 1], size=[0, 1]),
            "single": sparse([[0]], [1], start=[0], size=[1]),
        },
        small_fed={
            "none": sparse([], [3, 5], start=[1, 0], size=[1, 2]),
            "no_rows": sparse([], [0, 5], start=[0, 1], size=[1, 2]),
            "one": sparse([[0, 0]], [1, 1], start=[0, 0], size=[1, 1]),
            "none_of_one": sparse([[0, 0]], [1, 1], start=[0, 1], size=[1, 1]),
        },
        tensors=tensors("indices", "shape", "start", "size"),
        run={
            "vector": call((3,), indices=[0, 1, 2], shape=[3], start=[0], size=[1]),
            "negative_size": _slice_of(start=[1, 0], size=[-1, 2]),
            "too_few": _slice_of(start=[1], size=[2]),
            "other_rank": sparse(INDICES, [3, 5, 1], start=[0, 0, 0], size=[1, 1, 1]),
            "fewer_values": call((3,), indices=INDICES, shape=[3, 5], start=[0, 0], size=[1, 1]),
        },
        **_USUAL,
    ),
    *op(
        "sparse-slice-grad",
        "SparseSliceGrad",
        program=_slice_grad,
        promise=Forward(ref.spread),
        calls={
            "matrix": _sliced(INDICES, [1, 0], [[0, 2], [1, 0]]),
            "whole": _sliced(INDICES, [0, 0], INDICES),
            "nothing": _sliced(INDICES, [0, 2], []),
            "cube": _sliced(CUBE, [1, 0, 1], [[0, 2, 1], [0, 2, 2]]),
            "empty": _sliced([], [0, 0], []),
            "single": _sliced([[0]], [0], [[0]]),
        },
        small_fed={
            "none": _sliced([], [1, 0], []),
            "one": _sliced([[0, 0]], [0, 0], [[0, 0]]),
            "none_of_one": _sliced([[0, 0]], [0, 1], []),
        },
        tensors=tensors("indices", "start", "out"),
        gradient=False,
        modes=WITHOUT_XLA,
        dtypes=replace(COMMON, rough=INTEGERS, without_xla=()),
    ),
    *op(
        "sparse-split",
        "SparseSplit",
        program=_split,
        promise=MovedWith(ref.split, ref.split_indices),
        calls={
            "columns": _split_of(axis=1, num_split=2),
            "rows": _split_of(axis=0, num_split=3),
            "last": _split_of(axis=-1, num_split=5),
            "one_part": _split_of(axis=1, num_split=1),
            "cube": sparse(CUBE, [2, 3, 4], axis=2, num_split=3),
            "vector": sparse([[1], [2], [6]], [7], axis=0, num_split=4),
            "out_of_order": sparse([[2, 1], [0, 3], [1, 0]], [3, 4], axis=1, num_split=2),
            "empty": sparse([], [3, 4], axis=1, num_split=2),
            "single": sparse([[0]], [1], axis=0, num_split=1),
        },
        small_fed={
            "none": sparse([], [3, 5], axis=1, num_split=1),
            "no_columns": sparse([], [0, 5], axis=1, num_split=1),
            "one": sparse([[0, 0]], [1, 1], axis=1, num_split=1),
        },
        tensors=tensors("indices", "shape", "axis"),
        run={
            "vector": call((3,), indices=[0, 1, 2], shape=[3], axis=0, num_split=1),
            "no_axis": _split_of(axis=2, num_split=2),
            "too_small": _split_of(axis=-3, num_split=2),
            "too_many": _split_of(axis=0, num_split=4),
            "vector_axis": _split_of(axis=[0], num_split=2),
            "out_of_bounds": sparse([[0, 1], [1, 9]], [3, 5], axis=1, num_split=2),
            "negative": sparse([[0, 1], [1, -1]], [3, 5], axis=1, num_split=2),
            "other_rank": sparse(INDICES, [3, 5, 1], axis=1, num_split=2),
            "fewer_values": call((3,), indices=INDICES, shape=[3, 5], axis=1, num_split=2),
        },
        gradient=False,
        **_USUAL,
    ),
)
