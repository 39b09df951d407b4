"""Bands of batches of matrices: ops that were removed from GraphDef."""

from dataclasses import replace
from typing import Any

from tf_opdiff.suites.forms.linear_algebra.diagonals import FLOAT32_ALONE
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.linear_algebra import diagonals as ref

_MATRICES = {
    "matrices": (2, 4, 5),
    "matrix": (5, 3),
    "empty": (0, 2, 3),
    "batch_of_one": (1, 4, 4),
    "one": (1, 1),
    "large": (9, 17),
}
_SMALL = {"none": (0, 2, 3), "no_columns": (3, 0), "one": (1, 1), "empty_inside": (1, 0, 2)}
_BAND_PART = Removed("BatchMatrixBandPart", ("input", "num_lower", "num_upper"))


def _removed(raw, *arguments) -> dict[str, Any]:
    """What a declaration of a removed op says of it: its values in an old graph, and its error everywhere else."""
    removed = Removed(raw, arguments)
    dtypes = replace(FLOAT32_ALONE, smooth=("float16", "bfloat16", "float64"))
    program = {"raw": raw, "program": lambda tf, *xs: removed(tf, *xs)}
    return {**program, "gradient": False, "dtypes": dtypes, **removed.fields}


def _band(tf, x, lower, upper):
    return _BAND_PART(tf, x, tf.constant(lower, tf.int64), tf.constant(upper, tf.int64))


SPECS = (
    *op(
        "batch-matrix-band-part",
        promise=Placed(ref.band),
        shapes=_MATRICES,
        small=_SMALL,
        attrs={
            "lower": {"lower": -1, "upper": 0},
            "tridiagonal": {"lower": 1, "upper": 1},
            "upper": {"lower": 0, "upper": -1},
        },
        **{**_removed(_BAND_PART.op), "program": _band},
    ),
    *op(
        "batch-matrix-diag",
        promise=Placed(ref.matrices),
        shapes={"rows": (3, 5), "vector": (4,), "empty": (0, 3), "one": (1, 1), "batch_of_one": (1, 4)},
        small={"none": (0,), "no_rows": (0, 3), "no_columns": (3, 0), "one": (1,), "one_by_one": (1, 1)},
        **_removed("BatchMatrixDiag", "diagonal"),
    ),
    *op(
        "batch-matrix-diag-part",
        promise=Placed(ref.diagonals),
        shapes=_MATRICES,
        small=_SMALL,
        **_removed("BatchMatrixDiagPart", "input"),
    ),
    *op(
        "batch-matrix-set-diag",
        promise=Placed(ref.with_diagonals),
        shapes={
            "matrices": ((2, 4, 5), (2, 4)),
            "matrix": ((5, 3), (3,)),
            "empty": ((0, 2, 3), (0, 2)),
            "one": ((1, 1), (1,)),
        },
        small={
            "none": ((0, 2, 3), (0, 2)),
            "no_columns": ((3, 0), (0,)),
            "one": ((1, 1), (1,)),
            "empty_inside": ((1, 0, 2), (1, 0)),
        },
        **_removed("BatchMatrixSetDiag", "input", "diagonal"),
    ),
)
