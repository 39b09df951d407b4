"""Ops that read bands of matrices, and that keep nothing else."""

from typing import Any

from tf_opdiff.suites.forms.diagonals import (
    EVERY_DTYPE,
    WITH_PADDING,
    WRONG_K,
    aligned,
    gradient_of_v2,
    padding_of,
    refused,
)
from tf_opdiff.suites.forms.layout import layout
from tf_opdiff.suites.reference import diagonals as ref

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


def _band(tf, x, lower, upper, index="int64"):
    return tf.raw_ops.MatrixBandPart(input=x, num_lower=tf.constant(lower, index), num_upper=tf.constant(upper, index))


def _banded(x, lower, upper, index="int64"):
    """`ref.band`; the dtype of the numbers of diagonals does not matter."""
    return ref.band(x, lower, upper)


def _part(x, k, align=ref.LEFT, padding=0):
    return ref.diagonals(x, k, align, padding)


def _parts(name, op, program, views):
    """The specs of an op that reads bands."""
    return (
        *layout(
            name,
            op=op,
            program=program,
            move=_part,
            mistake=gradient_of_v2(op, _part),
            shapes=_MATRICES,
            attrs=views,
            small=_SMALL_MATRICES,
            **WITH_PADDING,
        ),
        refused(f"{name}-wrong-band", op, program, WRONG_K, (2, 4, 5), code="ValueError"),
        refused(f"{name}-vector", op, program, {"main": {"k": 0}}, (5,), code="ValueError"),
    )


SPECS = (
    *layout(
        "diag-part",
        op="DiagPart",
        program=lambda tf, x: tf.raw_ops.DiagPart(input=x),
        move=ref.tensor_diagonal,
        shapes={"planes": (3, 5, 3, 5), "matrix": (4, 4), "batch_of_one": (1, 4, 1, 4)},
        attrs={},
        small={"one_by_one": (1, 1), "none": (0, 0), "no_columns": (2, 0, 2, 0)},
        smooth=("float16", "float64", "complex64", "complex128"),
        rough=("int32", "int64"),
        of_xla=("bfloat16",),
        quantized=(),
    ),
    *(
        refused(f"diag-part-{label}", "DiagPart", lambda tf, x: tf.raw_ops.DiagPart(input=x), {}, shape, code=code)
        for label, shape, code in (("odd-rank", (3, 3, 3), "ValueError"), ("not-square", (3, 4), "ValueError"))
    ),
    *layout(
        "matrix-band-part",
        op="MatrixBandPart",
        program=_band,
        move=_banded,
        shapes=_MATRICES,
        attrs=_BANDS,
        small=_SMALL_MATRICES,
        **EVERY_DTYPE,
    ),
    refused("matrix-band-part-wrong-band", "MatrixBandPart", _band, _WRONG_BANDS, (2, 4, 5)),
    refused("matrix-band-part-vector", "MatrixBandPart", _band, _LOWER, (5,)),
    *layout(
        "matrix-diag-part",
        op="MatrixDiagPart",
        program=lambda tf, x: tf.raw_ops.MatrixDiagPart(input=x),
        move=ref.diagonals,
        shapes=_MATRICES,
        attrs={},
        small=_SMALL_MATRICES,
        **EVERY_DTYPE,
    ),
    *_parts("matrix-diag-part-v2", "MatrixDiagPartV2", _part_v2, _PARTS),
    *_parts("matrix-diag-part-v3", "MatrixDiagPartV3", _part_v3, aligned(_PARTS)),
)
