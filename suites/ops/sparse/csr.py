"""CSR matrices: sparse matrices, and batches of them, in rows. No CSR matrix is an output: programs read them back."""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Apart
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, matrix, sparse, tensors
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays.moves import Forward, MovedWith, blank
from tf_opdiff.suites.reference.sparse_tensors import csr as ref
from tf_opdiff.suites.reference.sparse_tensors.sparse import dense, reordered_places

_USUAL = {
    "modes": WITHOUT_XLA,
    "dtypes": replace(COMMON, smooth=("float64", *COMPLEX), rough=(), without_xla=()),
    "second": False,
}
_ARGUMENTS = tensors("indices", "shape")


def _csr(tf, x, indices, shape):
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=indices, values=x, dense_shape=shape)


def _read(tf, csr, dtype):
    y = tf.raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix=csr, type=dtype)
    return [y.values, y.indices, y.dense_shape]


def _round_trip(tf, x, indices, shape):
    return _read(tf, _csr(tf, x, indices, shape), x.dtype)


def _to_dense(tf, x, indices, shape):
    return tf.raw_ops.CSRSparseMatrixToDense(sparse_input=_csr(tf, x, indices, shape), type=x.dtype)


def _through_csr(tf, x, indices):
    csr = tf.raw_ops.DenseToCSRSparseMatrix(dense_input=x, indices=indices)
    return tf.raw_ops.CSRSparseMatrixToDense(sparse_input=csr, type=x.dtype)


def _components(tf, x, indices, shape, index):
    csr = _csr(tf, x, indices, shape)
    y = tf.raw_ops.CSRSparseMatrixComponents(csr_sparse_matrix=csr, index=index, type=x.dtype)
    return [y.values, y.row_ptrs, y.col_inds]


def _count(tf, x, indices, shape):
    csr = _csr(tf, x, indices, shape)
    return [*_read(tf, csr, x.dtype)[:1], tf.raw_ops.SparseMatrixNNZ(sparse_matrix=csr)]


def _transpose(tf, x, indices, shape, conjugate=False):
    csr = _csr(tf, x, indices, shape)
    turned = tf.raw_ops.SparseMatrixTranspose(input=csr, conjugate=conjugate, type=x.dtype)
    return _read(tf, turned, x.dtype)


def _by_counts(x, indices, shape):
    """A dense matrix whose rows have as many values as the indices say, but in the order of the indices."""
    rows, columns = np.array(indices).T
    return dense(x, blank(x), np.stack([np.sort(rows), columns], axis=1), shape)


def _masked(shape, indices):
    """A call on a dense tensor that has a value at each of these indices."""
    return call(shape, indices=matrix(indices, len(shape)))


_MATRICES = {
    "matrix": sparse(INDICES, [3, 5]),
    "batch": sparse(CUBE, [2, 3, 4]),
    "with_empty": sparse([[1, 0, 2], [1, 2, 0], [3, 1, 1]], [4, 3, 3]),
    "batch_of_one": sparse([[0, 1, 0], [0, 1, 1]], [1, 2, 3]),
    "no_values": sparse([], [3, 5]),
    "no_rows": sparse([], [0, 5]),
    "single": sparse([[0, 0]], [1, 1]),
}
_WRONG_VALUES = {
    "out_of_bounds": sparse([[0, 1], [3, 0]], [3, 5]),
    "column_out_of_bounds": sparse([[0, 1], [1, 5]], [3, 5]),
    "negative": sparse([[0, 1], [-1, 0]], [3, 5]),
}
_WRONG_SHAPES = {
    "vector": sparse([[0], [2]], [3]),
    "rank4": sparse([[0, 0, 0, 0]], [1, 1, 1, 1]),
    "fewer_values": call((1,), indices=[[0, 1], [1, 0]], shape=[3, 5]),
    "other_rank": sparse([[0, 1]], [3, 5, 1]),
}
_DENSE = {
    "matrix": _masked((3, 5), INDICES),
    "batch": _masked((2, 3, 4), CUBE),
    "whole": _masked((2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]]),
    "no_values": _masked((3, 5), []),
    "no_rows": _masked((0, 5), []),
    "batch_of_one": _masked((1, 2, 3), [[0, 1, 0]]),
    "single": _masked((1, 1), [[0, 0]]),
}

SPECS = (
    *op(
        "csr-components",
        "SparseTensorToCSRSparseMatrix;CSRSparseMatrixComponents",
        limits="CSRSparseMatrixComponents",
        program=_components,
        promise=MovedWith(ref.components, ref.component_places),
        calls={
            "matrix": sparse(INDICES, [3, 5], index=0),
            "first": sparse(CUBE, [2, 3, 4], index=0),
            "second": sparse(CUBE, [2, 3, 4], index=1),
            "empty_matrix": sparse([[0, 1, 0], [2, 1, 0]], [3, 2, 2], index=1),
            "no_values": sparse([], [3, 5], index=0),
            "no_rows": sparse([], [0, 5], index=0),
            "single": sparse([[0, 0]], [1, 1], index=0),
        },
        tensors=(*_ARGUMENTS, Parameter("index", ("int32",))),
        built={"vector_index": sparse(INDICES, [3, 5], index=[0])},
        run={"beyond": sparse(CUBE, [2, 3, 4], index=2), "negative": sparse(INDICES, [3, 5], index=-1)},
        gradient=False,
        **_USUAL,
    ),
    *op(
        "csr-count",
        "SparseTensorToCSRSparseMatrix;SparseMatrixNNZ",
        program=_count,
        promise=MovedWith(lambda x, indices, shape: x, ref.counts),
        calls=_MATRICES,
        tensors=_ARGUMENTS,
        gradient=False,
        **_USUAL,
    ),
    *op(
        "csr-of-dense",
        "DenseToCSRSparseMatrix;CSRSparseMatrixToDense",
        limits="DenseToCSRSparseMatrix",
        program=_through_csr,
        promise=Forward(ref.masked),
        calls=_DENSE,
        tensors=tensors("indices"),
        apart={
            "rows-out-of-order": Apart(
                {"rows": _masked((3, 5), [[2, 0], [0, 4], [0, 1]])},
                tensors("indices"),
                mistake=lambda x, indices: _by_counts(x[tuple(np.array(indices).T)], indices, x.shape),
            ),
            "no-matrices": Apart({"none": _masked((0, 3, 4), [])}, tensors("indices")),
        },
        built={
            "vector": _masked((3,), [[0], [2]]),
            "rank4": _masked((1, 1, 2, 2), [[0, 0, 0, 0]]),
            "other_rank": call((3, 5), indices=CUBE),
        },
        run={
            "out_of_bounds": _masked((3, 5), [[0, 1], [3, 0]]),
            "column_out_of_bounds": _masked((3, 5), [[0, 1], [1, 5]]),
            "negative": _masked((3, 5), [[0, -1], [1, 1]]),
        },
        **_USUAL,
    ),
    *op(
        "csr-to-dense",
        "SparseTensorToCSRSparseMatrix;CSRSparseMatrixToDense",
        program=_to_dense,
        promise=Forward(lambda x, indices, shape: dense(x, blank(x), indices, shape)),
        calls={**_MATRICES, "columns_out_of_order": sparse([[0, 4], [0, 1], [2, 2], [2, 0]], [3, 5])},
        tensors=_ARGUMENTS,
        apart={
            "rows-out-of-order": Apart(
                {"rows": sparse([[2, 0], [0, 4], [0, 1]], [3, 5])}, _ARGUMENTS, mistake=_by_counts
            )
        },
        **_USUAL,
    ),
    *op(
        "csr-to-sparse",
        "SparseTensorToCSRSparseMatrix;CSRSparseMatrixToSparseTensor",
        limits="SparseTensorToCSRSparseMatrix",
        program=_round_trip,
        promise=MovedWith(lambda x, indices, shape: x, reordered_places),
        calls=_MATRICES,
        tensors=_ARGUMENTS,
        apart={"no-matrices": Apart({"none": sparse([], [0, 3, 4])}, _ARGUMENTS)},
        built=_WRONG_SHAPES,
        run=_WRONG_VALUES,
        **_USUAL,
    ),
    *op(
        "csr-transpose",
        "SparseTensorToCSRSparseMatrix;SparseMatrixTranspose",
        part(
            "-conjugate",
            program=lambda tf, x: _transpose(
                tf, x, tf.constant(INDICES, tf.int64), tf.constant([3, 5], tf.int64), conjugate=True
            )[0],
            reference=lambda x: np.conj(ref.transposed(x, INDICES, [3, 5])),
            vjp=lambda g, x: (np.conj(ref.back_from_transposed(g, INDICES, [3, 5])),),
            recipes={"plain": shaped((5,))},
            dtypes=("float32", "float64", *COMPLEX),
        ),
        program=_transpose,
        promise=MovedWith(ref.transposed, ref.transposed_indices),
        calls=_MATRICES,
        tensors=_ARGUMENTS,
        **_USUAL,
    ),
)
