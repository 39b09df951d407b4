"""Ops that were removed from GraphDef 14, and that older graphs still run: bands of batches of matrices.

A graph with such an op is imported into the v1 graph, whose version then is the earlier one. Functions and the eager
runtime have the version of the installed TensorFlow, in which the op is an error.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.layout import layout
from tf_opdiff.suites.reference import diagonals as ref

_DTYPES = {"smooth": ("float16", "bfloat16", "float64"), "rough": (), "of_xla": (), "quantized": ()}
_REMOVED = "It has been removed in version 14"
_IN_PYTHON = "a function is built in Python, which has a class for the error; the eager runtime has a code"
_MATRICES = {"matrices": (2, 4, 5), "matrix": (5, 3), "empty": (0, 2, 3), "batch_of_one": (1, 4, 4), "large": (9, 17)}


def _imported(tf, op, *xs):
    """The output of an op in a graph of version 13."""
    graph = tf.compat.v1.GraphDef()
    graph.versions.producer = 13
    for i, x in enumerate(xs):
        node = graph.node.add(name=f"x{i}", op="Placeholder")
        node.attr["dtype"].type = x.dtype.as_datatype_enum
    node = graph.node.add(name="y", op=op, input=[f"x{i}" for i in range(len(xs))])
    node.attr["T"].type = xs[0].dtype.as_datatype_enum
    (y,) = tf.import_graph_def(graph, {f"x{i}:0": x for i, x in enumerate(xs)}, ["y:0"])
    return y


def _removed(name, op, arguments, move, shapes, **fields):
    """The specs of a removed op: its values in an old graph, and its error everywhere else.

    Further fields are those of `Layout`.
    """
    return (
        *layout(
            name,
            op=op,
            move=move,
            shapes=shapes,
            gradient=False,
            modes=("graph",),
            **{"program": lambda tf, *xs: _imported(tf, op, *xs), "attrs": {}, **_DTYPES, **fields},
        ),
        Spec(
            name=f"{name}-removed",
            ops=op,
            program=lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(arguments, xs, strict=True))),
            reference=raises("NotImplementedError", _REMOVED),
            contract={"*/eager": Side(reference=raises("UNIMPLEMENTED", _REMOVED), why=_IN_PYTHON)},
            recipes={"plain": _plain(next(iter(shapes.values())), len(arguments))},
            modes=("eager", "function"),
        ),
    )


def _plain(shapes, count):
    """A recipe: plain values in each shape, and ones for the other inputs."""
    each = shapes if isinstance(shapes[0], tuple) else (shapes,)
    ones = [np.array(1, "int64")] * (count - len(each))
    return lambda draw, dtype: (*(draw.values(dtype, *shape) for shape in each), *ones)


SPECS = (
    *_removed(
        "batch-matrix-band-part",
        "BatchMatrixBandPart",
        ("input", "num_lower", "num_upper"),
        ref.band,
        _MATRICES,
        program=lambda tf, x, lower, upper: _imported(
            tf, "BatchMatrixBandPart", x, tf.constant(lower, tf.int64), tf.constant(upper, tf.int64)
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
        {"matrices": ((2, 4, 5), (2, 4)), "matrix": ((5, 3), (3,)), "empty": ((0, 2, 3), (0, 2))},
    ),
)
