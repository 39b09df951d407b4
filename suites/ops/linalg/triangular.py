"""Triangular systems of linear equations. Errors are those of substitution: see `suites.reference.linear`."""

from functools import partial

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.elements import plain
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.removed import Removed
from tf_opdiff.suites.reference.solving import Matrix, Solving

_REMOVED = Removed("BatchMatrixTriangularSolve", ("matrix", "rhs"), version=13)


def _solution(tf, a, b, **attrs):
    return tf.raw_ops.MatrixTriangularSolve(matrix=a, rhs=b, **attrs)


def _call(a, b, lower=True, adjoint=False, program=_solution):
    promise = Solving(Matrix("lower" if lower else "upper", adjoint))
    return Call(partial(program, lower=lower, adjoint=adjoint), promise, (a, b))


def _calls(program):
    return {
        "lower": _call((2, 3, 3), (2, 3, 2), program=program),
        "upper": _call((5, 5), (5, 1), lower=False, program=program),
        "lower_adjoint": _call((1, 4, 4), (1, 4, 3), adjoint=True, program=program),
        "upper_adjoint": _call((2, 1, 3, 3), (2, 1, 3, 4), lower=False, adjoint=True, program=program),
    }


_BROADCAST = {
    "broadcast_left": _call((3, 3), (2, 3, 2)),
    "broadcast_right": _call((2, 1, 2, 2), (3, 2, 2), lower=False),
}
_SMALL = {
    **{label: (shape, (*shape[:-1], 1)) for label, shape in of.SMALL.items()},
    "no_columns": ((2, 2), (2, 0)),
}
_RECIPES = {"plain": (of.triangular, plain), "exact": (of.diagonal, plain)}

SPECS = (
    *op(
        "batch-matrix-triangular-solve",
        _REMOVED.op,
        calls=_calls(_REMOVED),
        recipes=_RECIPES,
        small={label: {"only": _call(*shapes, program=_REMOVED)} for label, shapes in _SMALL.items()},
        of_small=(of.triangular, plain),
        dtypes=tiered(("float32", "float64")),
        gradient=False,
        fields=_REMOVED.fields | of.LOOSE,
    ),
    *op(
        "matrix-triangular-solve",
        "MatrixTriangularSolve",
        calls={**_calls(_solution), **_BROADCAST},
        recipes={**_RECIPES, "upstreams": (of.triangular, plain)},
        forward={"nan_right": (of.triangular, of.right_with_nan)},
        batch={label: _call(shape, (*shape[:-1], 2)) for label, shape in of.BATCHES.items()},
        small={label: {"only": _call(*shapes)} for label, shapes in _SMALL.items()},
        of_small=(of.triangular, plain),
        upstreams={"upstreams": of.sent},
        wrong={
            **{label: Wrong(_solution, (shape, (*shape[:-1], 1))) for label, shape in of.NOT_SQUARE.items()},
            "unequal-rows": Wrong(_solution, ((3, 3), (2, 3))),
            "unequal-batches": Wrong(_solution, ((2, 3, 3), (3, 3, 1))),
            "right-vector": Wrong(_solution, ((3, 3), (3,))),
        },
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        fields=of.LOOSE,
        second=("plain",),
    ),
    of.beside("matrix-triangular-solve", "MatrixTriangularSolve", _call((3, 2, 2), (3, 2, 1)), (of.triangular, plain)),
    *op(
        "matrix-triangular-solve-of-xla",
        "MatrixTriangularSolve",
        calls=_calls(_solution),
        recipes=_RECIPES,
        fields=of.IN_XLA_ALONE | {"dtypes": ("float16", "bfloat16")},
    ),
    *op(
        "matrix-triangular-solve-unread",
        "MatrixTriangularSolve",
        calls={"lower": _call((2, 3, 3), (2, 3, 2)), "lower_adjoint": _call((4, 4), (4, 1), adjoint=True)},
        recipes={"nan_above": (of.nan_above, plain)},
        fields=of.LOOSE,
    ),
)
