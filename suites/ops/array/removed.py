"""Bands of batches of matrices: ops that were removed from GraphDef."""

from dataclasses import replace

from tf_opdiff.suites.forms.layout import layout
from tf_opdiff.suites.forms.removed import Removed
from tf_opdiff.suites.reference import diagonals as ref

_DTYPES = {"smooth": ("float16", "bfloat16", "float64"), "rough": (), "of_xla": (), "quantized": ()}
_MATRICES = {
    "matrices": (2, 4, 5),
    "matrix": (5, 3),
    "empty": (0, 2, 3),
    "batch_of_one": (1, 4, 4),
    "one": (1, 1),
    "large": (9, 17),
}
_BAND_PART = Removed("BatchMatrixBandPart", ("input", "num_lower", "num_upper"))


def _removed(name, op, arguments, move, shapes, **fields):
    """The specs of a removed op: its values in an old graph, and its error everywhere else.

    Further fields are those of `Layout`.
    """
    removed = Removed(op, arguments)
    fields = {"program": lambda tf, *xs: removed(tf, *xs), "attrs": {}, **_DTYPES, **fields}
    specs = layout(name, op=op, move=move, shapes=shapes, gradient=False, **fields)
    return (replace(spec, **removed.fields) for spec in specs)


SPECS = (
    *_removed(
        "batch-matrix-band-part",
        _BAND_PART.op,
        _BAND_PART.arguments,
        ref.band,
        _MATRICES,
        program=lambda tf, x, lower, upper: _BAND_PART(
            tf, x, tf.constant(lower, tf.int64), tf.constant(upper, tf.int64)
        ),
        attrs={
            "lower": {"lower": -1, "upper": 0},
            "tridiagonal": {"lower": 1, "upper": 1},
            "upper": {"lower": 0, "upper": -1},
        },
    ),
    *_removed(
        "batch-matrix-diag",
        "BatchMatrixDiag",
        ("diagonal",),
        ref.matrices,
        {"rows": (3, 5), "vector": (4,), "empty": (0, 3), "one": (1, 1), "batch_of_one": (1, 4)},
    ),
    *_removed("batch-matrix-diag-part", "BatchMatrixDiagPart", ("input",), ref.diagonals, _MATRICES),
    *_removed(
        "batch-matrix-set-diag",
        "BatchMatrixSetDiag",
        ("input", "diagonal"),
        ref.with_diagonals,
        {
            "matrices": ((2, 4, 5), (2, 4)),
            "matrix": ((5, 3), (3,)),
            "empty": ((0, 2, 3), (0, 2)),
            "one": ((1, 1), (1,)),
        },
    ),
)
