"""Ops that make matrices of bands, and that set bands of matrices."""

from typing import Any

from tf_opdiff.suites.forms.diagonals import (
    EVERY_DTYPE,
    FLOAT32_ALONE,
    WITH_PADDING,
    WRONG_K,
    aligned,
    gradient_of_v2,
    padding_of,
    refused,
)
from tf_opdiff.suites.forms.layout import layout
from tf_opdiff.suites.reference import diagonals as ref

#: Bands of three diagonals in matrices of four rows and five columns. The longest diagonal has four elements.
_SET: dict[str, dict[str, Any]] = {
    "around": {"k": [-1, 1]},
    "from_main": {"k": [0, 2]},
    "to_main": {"k": [-2, 0]},
    "only_above": {"k": [1, 3]},
}
#: The same for matrices that are made of vectors of four elements.
_MADE: dict[str, dict[str, Any]] = {
    "around": {"k": [-1, 1]},
    "from_main": {"k": [0, 2], "shape": (4, 6), "padding": 1},
    "to_main": {"k": [-2, 0], "shape": (7, 4), "padding": 1},
    "only_above": {"k": [1, 3], "shape": (4, -1)},
    "only_below": {"k": [-3, -1], "shape": (-1, 4), "padding": 1},
}


def _make_v2(tf, d, k, shape=(-1, -1), padding=0):
    return tf.raw_ops.MatrixDiagV2(
        diagonal=d, k=k, num_rows=shape[0], num_cols=shape[1], padding_value=padding_of(tf, d, padding)
    )


def _make_v3(tf, d, k, shape=(-1, -1), align="RIGHT_LEFT", padding=0):
    return tf.raw_ops.MatrixDiagV3(
        diagonal=d, k=k, num_rows=shape[0], num_cols=shape[1], padding_value=padding_of(tf, d, padding), align=align
    )


def _set_v2(tf, x, d, k):
    return tf.raw_ops.MatrixSetDiagV2(input=x, diagonal=d, k=k)


def _set_v3(tf, x, d, k, align="RIGHT_LEFT"):
    return tf.raw_ops.MatrixSetDiagV3(input=x, diagonal=d, k=k, align=align)


def _made(name, op, program, views):
    """The specs of an op that makes matrices of bands."""
    vectors = {"rows": (3, 5), "vector": (4,), "batch_of_one": (1, 4), "large": (9, 17)}
    small = {"one_by_one": (1, 1), "one": (1,), "no_rows": (0, 3), "no_columns": (3, 0), "empty_inside": (1, 0, 2)}
    singles = {"main": {"k": 0}, "above": {"k": 2, "padding": 1}, "below": {"k": -1, "shape": (7, -1), "padding": 1}}
    bands = {"bands": (2, 3, 4), "one_band": (3, 4), "batch_of_one": (1, 3, 4), "no_bands": (0, 3, 4)}
    return (
        *layout(
            name, op=op, program=program, move=ref.matrices, shapes=vectors, attrs=singles, small=small, **WITH_PADDING
        ),
        *layout(
            f"{name}-bands",
            op=op,
            program=program,
            move=ref.matrices,
            mistake=gradient_of_v2(op, ref.matrices),
            shapes=bands,
            attrs=views,
            **FLOAT32_ALONE,
        ),
    )


def _set(name, op, program, views):
    """The specs of an op that sets bands."""
    matrices = {
        "matrices": ((2, 4, 5), (2, 4)),
        "matrix": ((5, 3), (3,)),
        "batch_of_one": ((1, 4, 4), (1, 4)),
        "large": ((3, 9, 17), (3, 9)),
    }
    small = {
        "one_by_one": ((1, 1), (1,)),
        "no_matrices": ((0, 2, 3), (0, 2)),
        "no_rows": ((0, 3), (0,)),
        "no_columns": ((3, 0), (0,)),
        "empty_inside": ((1, 0, 2), (1, 0)),
    }
    bands = {"bands": ((2, 4, 5), (2, 3, 4)), "batch_of_one": ((1, 4, 5), (1, 3, 4))}
    singles = {"main": {"k": 0}, "above": {"k": 1}}
    return (
        *layout(
            name,
            op=op,
            program=program,
            move=ref.with_diagonals,
            shapes=matrices,
            attrs=singles,
            small=small,
            **EVERY_DTYPE,
        ),
        *layout(
            f"{name}-bands",
            op=op,
            program=program,
            move=ref.with_diagonals,
            mistake=gradient_of_v2(op, ref.with_diagonals),
            shapes=bands,
            attrs=views,
            **FLOAT32_ALONE,
        ),
        refused(f"{name}-wrong-band", op, program, WRONG_K, ((2, 4, 5), (2, 4)), code="ValueError"),
        refused(f"{name}-wrong-length", op, program, {"main": {"k": 0}}, ((2, 4, 5), (2, 3))),
    )


SPECS = (
    *_made("matrix-diag-v2", "MatrixDiagV2", _make_v2, _MADE),
    *_made("matrix-diag-v3", "MatrixDiagV3", _make_v3, aligned(_MADE)),
    *layout(
        "matrix-set-diag",
        op="MatrixSetDiag",
        program=lambda tf, x, d: tf.raw_ops.MatrixSetDiag(input=x, diagonal=d),
        move=ref.with_diagonals,
        shapes={"matrices": ((2, 4, 5), (2, 4)), "matrix": ((5, 3), (3,)), "large": ((3, 9, 17), (3, 9))},
        attrs={},
        small={"one_by_one": ((1, 1), (1,)), "no_rows": ((0, 3), (0,)), "empty_inside": ((1, 0, 2), (1, 0))},
        **EVERY_DTYPE,
    ),
    *_set("matrix-set-diag-v2", "MatrixSetDiagV2", _set_v2, _SET),
    *_set("matrix-set-diag-v3", "MatrixSetDiagV3", _set_v3, aligned(_SET)),
)
