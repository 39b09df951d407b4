"""Ops that move the elements of one tensor: transposes, and diagonals."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.layout import layout, values
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA

#: Floats of 8 bits and integers of 4 bits, where a CPU has a kernel of none of them.
_SMALL = (*OF_XLA, *FLOAT8_OF_CPU)
_CUBES = {
    "cube": (3, 5, 2),
    "empty": (3, 0, 2),
    "one": (1, 1, 1),
    "batch_of_one": (1, 4, 3),
    "large": (9, 17, 8),
}
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


def transposed(x, perm, index="int32"):
    """`np.transpose`; the dtype of the permutation does not matter."""
    return np.transpose(x, perm)


def diagonal(x):
    """A tensor of twice the rank with `x` on its diagonal."""
    out = np.zeros((x.size, x.size), x.dtype)
    out[np.arange(x.size), np.arange(x.size)] = x.ravel()
    return out.reshape(x.shape * 2)


def matrix_diagonal(x):
    """Matrices with the rows of `x` on their diagonals."""
    out = np.zeros((*x.shape, x.shape[-1]), x.dtype)
    at = np.arange(x.shape[-1])
    out[..., at, at] = x
    return out


def refused_permutation(x, perm, index="int32"):
    """The error of a graph: shape inference finds every fault of a permutation but a repeated dimension."""
    return raises("INVALID_ARGUMENT" if len(set(np.ravel(perm))) < np.size(perm) else "ValueError")(x)


def wrong_permutation(name, op, program):
    """The spec of an op with permutations that it refuses."""
    return Spec(
        name=f"{name}-wrong-permutation",
        ops=op,
        program=program,
        reference=refused_permutation,
        recipes={"cube": values(3, 5, 2)},
        attrs=_WRONG,
        contract=REFUSED_BY_KERNEL,
    )


def _transpose(tf, x, perm, index="int32"):
    return tf.raw_ops.Transpose(x=x, perm=tf.constant(perm, index))


def _conjugate_transpose(tf, x, perm, index="int32"):
    return tf.raw_ops.ConjugateTranspose(x=x, perm=tf.constant(perm, index))


SPECS = (
    *layout(
        "conjugate-transpose",
        op="ConjugateTranspose",
        program=_conjugate_transpose,
        move=transposed,
        conjugate=True,
        shapes=_CUBES,
        attrs={label: _PERMUTATIONS[label] for label in ("reversed", "int64")},
        small=_SMALL_CUBES,
        more=FLOAT8_OF_CPU,
        without_xla=("bytes",),
    ),
    wrong_permutation("conjugate-transpose", "ConjugateTranspose", _conjugate_transpose),
    *layout(
        "diag",
        op="Diag",
        program=lambda tf, x: tf.raw_ops.Diag(diagonal=x),
        move=diagonal,
        shapes=_VECTORS,
        attrs={},
        small=_SMALL_VECTORS,
        smooth=("float16", "float64", "complex64", "complex128"),
        rough=("int32", "int64"),
        of_xla=("bfloat16",),
        quantized=(),
    ),
    *layout(
        "matrix-diag",
        op="MatrixDiag",
        program=lambda tf, x: tf.raw_ops.MatrixDiag(diagonal=x),
        move=matrix_diagonal,
        shapes=_VECTORS,
        attrs={},
        small=_SMALL_VECTORS,
        of_xla=_SMALL,
    ),
    *layout(
        "transpose",
        op="Transpose",
        program=_transpose,
        move=transposed,
        shapes=_CUBES,
        attrs=_PERMUTATIONS,
        small=_SMALL_CUBES,
        more=FLOAT8_OF_CPU,
        without_xla=("bytes",),
    ),
    wrong_permutation("transpose", "Transpose", _transpose),
)
