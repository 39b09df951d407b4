"""Products of CSR matrices with dense ones, and with each other."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA, without_modes
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import nonzero_integers, plain
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, matrix
from tf_opdiff.suites.reference.sparse_tensors.sparse_product import SparseProduct, SparseSparseProduct

_RAW = "SparseTensorToCSRSparseMatrix;SparseMatrixMatMul"
_RAW_SPARSE = "SparseTensorToCSRSparseMatrix;SparseMatrixSparseMatMul;CSRSparseMatrixToDense"


def _csr(tf, x, indices, shape):
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=indices, values=x, dense_shape=shape)


def _product(tf, x, b, indices, shape, **attrs):
    return tf.raw_ops.SparseMatrixMatMul(a=_csr(tf, x, indices, shape), b=b, **attrs)


def _sparse_product(tf, x, y, x_indices, x_shape, y_indices, y_shape, **attrs):
    product = tf.raw_ops.SparseMatrixSparseMatMul(
        a=_csr(tf, x, x_indices, x_shape), b=_csr(tf, y, y_indices, y_shape), type=x.dtype, **attrs
    )
    return tf.raw_ops.CSRSparseMatrixToDense(sparse_input=product, type=x.dtype)


def _fixed(*arrays):
    """Inputs that are the same in every case."""
    return tuple(partial(_constant, np.array(one, np.int64)) for one in arrays)


def _constant(array, *xs):
    return array


def _promise(promise=SparseProduct):
    """A function from the attributes of a product to its promise."""

    def of(**attrs):
        barred = tuple(attrs.get(f"adjoint_{one}", False) for one in "ab")
        turned = tuple(attrs.get(f"transpose_{one}", False) or bar for one, bar in zip("ab", barred, strict=True))
        output = {"turned": "transpose", "barred": "conjugate"}
        return promise(
            turned, barred, **{f"output_{n}": attrs.get(f"{old}_output", False) for n, old in output.items()}
        )

    return of


def _call(indices, shape, columns, **attrs):
    """A call with a sparse matrix of this shape, or a batch, and a dense one with so many columns."""
    turned, (*batch, rows, terms) = _promise()(**attrs).turned, shape
    k = rows if turned[0] else terms
    b = (columns, k) if turned[1] else (k, columns)
    inputs = _fixed(matrix(indices, len(shape)), shape)
    return Call(shapes=((len(indices),), (*batch, *b)), attrs=attrs, computed=inputs)


def _sparse_call(left, right, **attrs):
    """A call with two sparse matrices: the indices and the shape of each."""
    inputs = _fixed(matrix(left[0], len(left[1])), left[1], matrix(right[0], len(right[1])), right[1])
    return Call(shapes=((len(left[0]),), (len(right[0]),)), attrs=attrs, computed=inputs)


_A = (INDICES, [3, 5])
_FLAGS = {
    "transpose_a": {"transpose_a": True},
    "transpose_b": {"transpose_b": True},
    "adjoint_a": {"adjoint_a": True},
    "adjoint_b": {"adjoint_b": True},
    "transposes": {"transpose_a": True, "transpose_b": True},
    "adjoints": {"adjoint_a": True, "adjoint_b": True},
    "adjoint_and_transpose": {"adjoint_a": True, "transpose_b": True},
    "transpose_and_adjoint": {"transpose_a": True, "adjoint_b": True},
}
_CALLS = {
    "plain": _call(*_A, 4),
    **{label: _call(*_A, 4, **flags) for label, flags in _FLAGS.items()},
    "output": _call(*_A, 4, transpose_output=True),
    "adjoint_output": _call(*_A, 4, transpose_output=True, conjugate_output=True),
    "batch": _call(CUBE, [2, 3, 4], 5),
    "batch_adjoint": _call(CUBE, [2, 3, 4], 2, adjoint_a=True, adjoint_b=True),
    "one_column": _call(*_A, 1),
    "no_entries": _call([], [2, 3], 2),
    "one": _call([[0, 0]], [1, 1], 1),
    "batch_of_one": _call([[0, 1, 0], [0, 1, 1]], [1, 2, 3], 2),
}
_NO_ROWS = {"no_rows": _call([], [0, 3], 2)}
_NO_COLUMNS = {"no_columns": _call([[0, 1], [1, 0]], [2, 3], 0)}


def _full(rows, columns):
    """A sparse matrix with a value everywhere."""
    return [[i, j] for i in range(rows) for j in range(columns)], [rows, columns]


_SPARSE_CALLS = {
    "plain": _sparse_call(_A, _full(5, 2)),
    "both_sparse": _sparse_call(_A, ([[0, 1], [1, 0], [2, 1]], [3, 2]), transpose_a=True),
    **{
        label: _sparse_call(
            _A,
            _full(2, 3 if "a" in turned else 5) if "b" in turned else _full(3 if "a" in turned else 5, 2),
            **_FLAGS[label],
        )
        for label, turned in {
            "transpose_b": "b",
            "adjoint_a": "a",
            "adjoint_b": "b",
            "transposes": "ab",
            "adjoints": "ab",
            "adjoint_and_transpose": "ab",
            "transpose_and_adjoint": "ab",
        }.items()
    },
    "one": _sparse_call(_full(1, 1), _full(1, 1)),
}
#: The second row of b has no value, and an entry of a meets none.
_EMPTY_ROW = {"empty_row": _sparse_call(([[0, 0], [0, 1]], [1, 2]), ([[0, 0], [0, 1]], [2, 2]))}
_FORWARD = {
    "batch": _sparse_call((CUBE, [2, 3, 4]), ([[0, 3, 1], [1, 0, 0], [1, 2, 1]], [2, 4, 2])),
    "no_entries": _sparse_call(([], [3, 5]), _full(5, 2)),
}


def _wrong(indices, shape, b, **attrs):
    """A product with a dense matrix of shape b that the op refuses."""
    return Wrong(
        lambda tf, x, y: _product(tf, x, y, tf.constant(indices, tf.int64), tf.constant(shape, tf.int64), **attrs),
        ((len(indices),), b),
    )


_WRONG = {
    "unequal-terms": _wrong(*_A, (6, 2)),
    "vector": _wrong(*_A, (5,)),
    "other-rank": _wrong(*_A, (1, 5, 2)),
    "unequal-batches": _wrong(CUBE, [2, 3, 4], (3, 4, 2)),
    "transpose-and-adjoint": _wrong(*_A, (3, 2), transpose_a=True, adjoint_a=True),
}
_EXACT = {"exact": (nonzero_integers,)}
_RECIPES = {"plain": (plain,), **_EXACT}
_DTYPES = tiered(("float32", "float64", *COMPLEX))
_ONCE = {"recipes": _EXACT, "dtypes": ("float32",)}

SPECS = (
    *op(
        "csr-csr-matmul",
        _RAW_SPARSE,
        also("-empty-row", calls=_EMPTY_ROW, gradient=True, modes=without_modes("eager", "xla"), **_ONCE),
        also("-gradient", calls=_SPARSE_CALLS, gradient=True, modes=without_modes("eager", "xla")),
        also("-gradient-eager", calls={"plain": _SPARSE_CALLS["plain"]}, gradient=True, modes=("eager",), **_ONCE),
        program=_sparse_product,
        promise=_promise(SparseSparseProduct),
        calls={**_SPARSE_CALLS, **_FORWARD},
        recipes=_RECIPES,
        dtypes=_DTYPES,
        gradient=False,
        modes=WITHOUT_XLA,
        ordinary=ordinary.STORED,
    ),
    *op(
        "csr-matmul",
        _RAW,
        also("-no-columns", calls=_NO_COLUMNS, gradient=False, **_ONCE),
        also("-no-rows", calls=_NO_ROWS, gradient=False, **_ONCE),
        program=_product,
        promise=_promise(),
        calls=_CALLS,
        recipes=_RECIPES,
        wrong=_WRONG,
        dtypes=_DTYPES,
        modes=WITHOUT_XLA,
    ),
)
