"""Ops that move the elements of one tensor: transposes, and diagonals."""

from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.array_ops.layout import LAID
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.linear_algebra.diagonals import EVERY_DTYPE, FEW_DTYPES
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.linear_algebra.diagonals import matrices

_CUBES = {"cube": (3, 5, 2), "empty": (3, 0, 2), "one": (1, 1, 1), "batch_of_one": (1, 4, 3), "large": (9, 17, 8)}
_SMALL_CUBES = {"ones": (1, 1, 1), "no_planes": (0, 3, 2), "empty_inside": (1, 0, 2), "no_columns": (2, 3, 0)}
_PERMUTATIONS = {
    "reversed": {"perm": [2, 1, 0]},
    "cycle": {"perm": [1, 2, 0]},
    "last_two": {"perm": [0, 2, 1]},
    "int64": {"perm": [1, 0, 2], "index": "int64"},
    "negative": {"perm": [-1, 0, -2]},
}
_WRONG: dict[str, dict[str, Any]] = {
    "short": {"perm": [1, 0]},
    "long": {"perm": [0, 1, 2, 3]},
    "repeated": {"perm": [0, 0, 1]},
    "too_large": {"perm": [0, 1, 3]},
    "too_negative": {"perm": [0, 1, -4]},
    "beyond_int32": {"perm": [0, 1, 2**32 + 2], "index": "int64"},
    "matrix": {"perm": [[2, 1, 0]]},
}
_SMALL_VECTORS = {"none": (0,), "one": (1,), "one_by_one": (1, 1), "no_rows": (0, 3), "empty_inside": (1, 0, 2)}
_VECTORS = {"rows": (3, 5), "empty": (0, 3), "empty_rows": (3, 0), "one": (1, 1), "batch_of_one": (1, 4)}


def _transposed(x, perm, index="int32"):
    """`np.transpose`; the dtype of the permutation does not matter."""
    return np.transpose(x, perm)


def _diagonal(x):
    """A tensor of twice the rank with `x` on its diagonal."""
    out = np.zeros((x.size, x.size), x.dtype)
    out[np.arange(x.size), np.arange(x.size)] = x.ravel()
    return out.reshape(x.shape * 2)


def _refused_permutation(x, perm, index="int32"):
    """The error of a graph: shape inference finds every fault of a permutation but a repeated dimension."""
    return raises("INVALID_ARGUMENT" if len(set(np.ravel(perm))) < np.size(perm) else "ValueError")(x)


_wrong_permutation = part(
    "-wrong-permutation",
    reference=_refused_permutation,
    recipes={"cube": shaped((3, 5, 2))},
    attrs=_WRONG,
    contract=REFUSED_BY_KERNEL,
    dtypes=("float32",),
)
_COPIED = replace(LAID, more=FLOAT8_OF_CPU, without_xla=("bytes",))


def _transpose(tf, x, perm, index="int32"):
    return tf.raw_ops.Transpose(x=x, perm=tf.constant(perm, index))


def _conjugate_transpose(tf, x, perm, index="int32"):
    return tf.raw_ops.ConjugateTranspose(x=x, perm=tf.constant(perm, index))


SPECS = (
    *op(
        "conjugate-transpose",
        "ConjugateTranspose",
        _wrong_permutation,
        program=_conjugate_transpose,
        promise=Placed(_transposed, conjugate=True),
        shapes=_CUBES,
        attrs={label: _PERMUTATIONS[label] for label in ("reversed", "int64")},
        small=_SMALL_CUBES,
        dtypes=_COPIED,
    ),
    *op(
        "diag",
        "Diag",
        promise=Placed(_diagonal),
        shapes=_VECTORS,
        small=_SMALL_VECTORS,
        dtypes=FEW_DTYPES,
    ),
    *op(
        "matrix-diag",
        "MatrixDiag",
        arguments=("diagonal",),
        promise=Placed(matrices),
        shapes=_VECTORS,
        small=_SMALL_VECTORS,
        dtypes=EVERY_DTYPE,
    ),
    *op(
        "transpose",
        "Transpose",
        _wrong_permutation,
        program=_transpose,
        promise=Placed(_transposed),
        shapes=_CUBES,
        attrs=_PERMUTATIONS,
        small=_SMALL_CUBES,
        dtypes=_COPIED,
    ),
)
