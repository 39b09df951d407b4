"""Ops that read bands of matrices, and that keep nothing else."""

from functools import partial
from typing import Any

from tf_opdiff.suites.forms.linear_algebra import diagonals
from tf_opdiff.suites.forms.linear_algebra.diagonals import padding_of
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.linear_algebra import diagonals as ref

_MATRICES = {
    "matrices": (2, 4, 5),
    "matrix": (5, 3),
    "batch_of_one": (1, 4, 4),
    "deep": (2, 1, 3, 4),
    "large": (3, 9, 17),
}
_SMALL_MATRICES = {
    "one_by_one": (1, 1),
    "no_matrices": (0, 2, 3),
    "no_rows": (0, 3),
    "no_columns": (3, 0),
    "empty_inside": (1, 0, 2),
}
_BANDS: dict[str, dict[str, Any]] = {
    "lower": {"lower": -1, "upper": 0},
    "tridiagonal": {"lower": 1, "upper": 1},
    "upper": {"lower": 0, "upper": -1},
    "diagonal": {"lower": 0, "upper": 0},
    "everything": {"lower": -1, "upper": -1},
    "int32": {"lower": 2, "upper": 1, "index": "int32"},
}
_LOWER: dict[str, dict[str, Any]] = {"lower": {"lower": -1, "upper": 0}}
_WRONG_BANDS: dict[str, dict[str, Any]] = {
    "many_below": {"lower": 5, "upper": 0},
    "many_above": {"lower": 0, "upper": 6},
    "beyond_int32": {"lower": 2**32 + 1, "upper": 0},
}
#: A single diagonal, then bands of each place and alignment.
_PARTS: dict[str, dict[str, Any]] = {
    "main": {"k": 0},
    "above": {"k": 2, "padding": 1},
    "below": {"k": -3, "padding": 1},
    "around": {"k": [-1, 2], "padding": 1},
    "only_above": {"k": [1, 3], "padding": 1},
    "only_below": {"k": [-3, -1], "padding": 1},
    "whole": {"k": [-3, 4]},
}


def _part_v2(tf, x, k, padding=0):
    return tf.raw_ops.MatrixDiagPartV2(input=x, k=k, padding_value=padding_of(tf, x, padding))


def _part_v3(tf, x, k, align="RIGHT_LEFT", padding=0):
    return tf.raw_ops.MatrixDiagPartV3(input=x, k=k, padding_value=padding_of(tf, x, padding), align=align)


def _padded(raw):
    """A part: the padding of an op that reads bands as an input."""
    k = diagonals.FALLING
    return diagonals.padded(
        (2, 4, 5),
        lambda tf, x, padding: getattr(tf.raw_ops, raw)(input=x, k=k, padding_value=padding),
        partial(ref.diagonals, k=k),
    )


def _band(tf, x, lower, upper, index="int64"):
    return tf.raw_ops.MatrixBandPart(input=x, num_lower=tf.constant(lower, index), num_upper=tf.constant(upper, index))


def _banded(x, lower, upper, index="int64"):
    """`ref.band`; the dtype of the numbers of diagonals does not matter."""
    return ref.band(x, lower, upper)


def _part(x, k, align=ref.LEFT, padding=0):
    return ref.diagonals(x, k, align, padding)


#: What the declarations of the second and of the third version share.
_PARTS_OF_BANDS = (diagonals.wrong_bands((2, 4, 5)), diagonals.not_a_matrix(wrong={"main": {"k": 0}}))
_OF_BANDS: dict[str, Any] = {"shapes": _MATRICES, "small": _SMALL_MATRICES, "dtypes": diagonals.WITH_PADDING}

SPECS = (
    *op(
        "diag-part",
        "DiagPart",
        diagonals.refused("-odd-rank", (3, 3, 3), wrong={}),
        diagonals.refused("-not-square", (3, 4), wrong={}),
        arguments=("input",),
        promise=Placed(ref.tensor_diagonal),
        shapes={"planes": (3, 5, 3, 5), "matrix": (4, 4), "batch_of_one": (1, 4, 1, 4)},
        small={"one_by_one": (1, 1), "none": (0, 0), "no_columns": (2, 0, 2, 0)},
        dtypes=diagonals.FEW_DTYPES,
    ),
    *op(
        "matrix-band-part",
        "MatrixBandPart",
        diagonals.in_kernel("-wrong-band", (2, 4, 5), wrong=_WRONG_BANDS),
        diagonals.in_kernel("-vector", (5,), wrong=_LOWER),
        program=_band,
        promise=Placed(_banded),
        shapes=_MATRICES,
        attrs=_BANDS,
        small=_SMALL_MATRICES,
        dtypes=diagonals.EVERY_DTYPE,
    ),
    *op(
        "matrix-diag-part",
        "MatrixDiagPart",
        arguments=("input",),
        promise=Placed(ref.diagonals),
        shapes=_MATRICES,
        small=_SMALL_MATRICES,
        dtypes=diagonals.EVERY_DTYPE,
    ),
    *op(
        "matrix-diag-part-v2",
        "MatrixDiagPartV2",
        *_PARTS_OF_BANDS,
        _padded("MatrixDiagPartV2"),
        program=_part_v2,
        promise=diagonals.of_version(2, _part),
        attrs=_PARTS,
        **_OF_BANDS,
    ),
    *op(
        "matrix-diag-part-v3",
        "MatrixDiagPartV3",
        *_PARTS_OF_BANDS,
        _padded("MatrixDiagPartV3"),
        program=_part_v3,
        promise=diagonals.of_version(3, _part),
        attrs=diagonals.aligned(_PARTS),
        **_OF_BANDS,
    ),
)
