"""Ops that make matrices of bands, and that set bands of matrices."""

from functools import partial
from typing import Any

from tf_opdiff.suites.forms.linear_algebra.diagonals import (
    EVERY_DTYPE,
    FALLING,
    FLOAT32_ALONE,
    WITH_PADDING,
    aligned,
    in_kernel,
    of_version,
    padded,
    padding_of,
    wrong_bands,
)
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.linear_algebra import diagonals as ref

#: Bands of three diagonals in matrices of four rows and five columns. The longest diagonal has four elements.
_SET: dict[str, dict[str, Any]] = {
    "around": {"k": [-1, 1]},
    "from_main": {"k": [0, 2]},
    "to_main": {"k": [-2, 0]},
    "only_above": {"k": [1, 3]},
}
#: Bands of three diagonals, for matrices that are made of vectors of four elements.
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


def _padded(raw):
    """A part: the padding of an op that makes matrices as an input."""

    def program(tf, d, padding):
        return getattr(tf.raw_ops, raw)(diagonal=d, k=FALLING, num_rows=-1, num_cols=-1, padding_value=padding)

    return padded((2, 3, 4), program, partial(ref.matrices, k=FALLING))


def _set_v2(tf, x, d, k):
    return tf.raw_ops.MatrixSetDiagV2(input=x, diagonal=d, k=k)


def _set_v3(tf, x, d, k, align="RIGHT_LEFT"):
    return tf.raw_ops.MatrixSetDiagV3(input=x, diagonal=d, k=k, align=align)


#: The shapes of vectors, and those of bands.
_VECTORS: dict[str, Any] = {
    "shapes": {"rows": (3, 5), "vector": (4,), "batch_of_one": (1, 4), "large": (9, 17)},
    "attrs": {"main": {"k": 0}, "above": {"k": 2, "padding": 1}, "below": {"k": -1, "shape": (7, -1), "padding": 1}},
    "small": {"one_by_one": (1, 1), "one": (1,), "no_rows": (0, 3), "no_columns": (3, 0), "empty_inside": (1, 0, 2)},
    "promise": Placed(ref.matrices),
    "dtypes": WITH_PADDING,
}
_OF_BANDS: dict[str, Any] = {
    "shapes": {"bands": (2, 3, 4), "one_band": (3, 4), "batch_of_one": (1, 3, 4), "no_bands": (0, 3, 4)},
    "dtypes": FLOAT32_ALONE,
}
_MATRICES = {
    "matrices": ((2, 4, 5), (2, 4)),
    "matrix": ((5, 3), (3,)),
    "batch_of_one": ((1, 4, 4), (1, 4)),
    "large": ((3, 9, 17), (3, 9)),
}
_SMALL = {
    "one_by_one": ((1, 1), (1,)),
    "no_matrices": ((0, 2, 3), (0, 2)),
    "no_rows": ((0, 3), (0,)),
    "no_columns": ((3, 0), (0,)),
    "empty_inside": ((1, 0, 2), (1, 0)),
}
#: What the declarations of the second and of the third version of the op that sets a diagonal share.
_WRONG_SETS = (wrong_bands((2, 4, 5), (2, 4)), in_kernel("-wrong-length", (2, 4, 5), (2, 3), wrong={"main": {"k": 0}}))
_SETS: dict[str, Any] = {
    "promise": Placed(ref.with_diagonals),
    "shapes": _MATRICES,
    "attrs": {"main": {"k": 0}, "above": {"k": 1}},
    "small": _SMALL,
    "dtypes": EVERY_DTYPE,
}
_SETS_OF_BANDS: dict[str, Any] = {
    "shapes": {"bands": ((2, 4, 5), (2, 3, 4)), "batch_of_one": ((1, 4, 5), (1, 3, 4))},
    "dtypes": FLOAT32_ALONE,
}


def _few(shapes, *labels):
    return {label: shapes[label] for label in labels}


SPECS = (
    *op("matrix-diag-v2", "MatrixDiagV2", _padded("MatrixDiagV2"), program=_make_v2, **_VECTORS),
    *op(
        "matrix-diag-v2-bands",
        "MatrixDiagV2",
        program=_make_v2,
        promise=of_version(2, ref.matrices),
        attrs=_MADE,
        **_OF_BANDS,
    ),
    *op("matrix-diag-v3", "MatrixDiagV3", _padded("MatrixDiagV3"), program=_make_v3, **_VECTORS),
    *op(
        "matrix-diag-v3-bands",
        "MatrixDiagV3",
        program=_make_v3,
        promise=of_version(3, ref.matrices),
        attrs=aligned(_MADE),
        **_OF_BANDS,
    ),
    *op(
        "matrix-set-diag",
        "MatrixSetDiag",
        arguments=("input", "diagonal"),
        promise=Placed(ref.with_diagonals),
        shapes=_few(_MATRICES, "matrices", "matrix", "large"),
        small=_few(_SMALL, "one_by_one", "no_rows", "empty_inside"),
        dtypes=EVERY_DTYPE,
    ),
    *op("matrix-set-diag-v2", "MatrixSetDiagV2", *_WRONG_SETS, program=_set_v2, **_SETS),
    *op(
        "matrix-set-diag-v2-bands",
        "MatrixSetDiagV2",
        program=_set_v2,
        promise=of_version(2, ref.with_diagonals),
        attrs=_SET,
        **_SETS_OF_BANDS,
    ),
    *op("matrix-set-diag-v3", "MatrixSetDiagV3", *_WRONG_SETS, program=_set_v3, **_SETS),
    *op(
        "matrix-set-diag-v3-bands",
        "MatrixSetDiagV3",
        program=_set_v3,
        promise=of_version(3, ref.with_diagonals),
        attrs=aligned(_SET),
        **_SETS_OF_BANDS,
    ),
)
