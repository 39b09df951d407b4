"""Inverses and solutions of linear equations. Errors are those of LU and QR: see `suites.reference.linear`."""

from functools import partial

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.elements import plain
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.solving import Inverting, Matrix, Solving


def _inverse(tf, a, adjoint=False):
    return tf.raw_ops.MatrixInverse(input=a, adjoint=adjoint)


def _solution(tf, a, b, adjoint=False):
    return tf.raw_ops.MatrixSolve(matrix=a, rhs=b, adjoint=adjoint)


def _inverse_of(shape, adjoint=False):
    return Call(partial(_inverse, adjoint=adjoint), Inverting(Solving(Matrix(adjoint=adjoint))), (shape,))


def _solution_of(shape, columns, adjoint=False):
    return Call(partial(_solution, adjoint=adjoint), Solving(Matrix(adjoint=adjoint)), (shape, (*shape[:-1], columns)))


#: Every second call takes the adjoint.
_ADJOINT = dict(zip(of.MATRICES, (False, True) * 2, strict=True))
_COLUMNS = dict(zip(of.MATRICES, (2, 1, 3, 4), strict=True))
_INVERSES = {label: _inverse_of(shape, _ADJOINT[label]) for label, shape in of.MATRICES.items()}
_SOLUTIONS = {label: _solution_of(shape, _COLUMNS[label], _ADJOINT[label]) for label, shape in of.MATRICES.items()}
_OF_INVERSE = {
    "plain": (of.ordinary,),
    "graded": (of.graded,),
    "exact": (of.powers,),
    "upstreams": (of.ordinary,),
}
_OF_SOLUTION = {label: (*elements, plain) for label, elements in _OF_INVERSE.items()}
_SHARED_INVERSE = {
    "calls": _INVERSES,
    "recipes": _OF_INVERSE,
    "upstreams": {"upstreams": of.sent},
    "second": ("plain",),
}
_SHARED_SOLUTION = {
    "calls": _SOLUTIONS,
    "recipes": _OF_SOLUTION,
    "upstreams": {"upstreams": of.sent},
    "second": ("plain",),
}

SPECS = (
    *op(
        "matrix-inverse",
        "MatrixInverse",
        forward={"nan": (of.with_nan,)},
        batch={label: _inverse_of(shape) for label, shape in of.BATCHES.items()},
        small={label: {"only": _inverse_of(shape)} for label, shape in of.SMALL.items()},
        of_small=(of.ordinary,),
        wrong={label: Wrong(_inverse, (shape,)) for label, shape in of.NOT_SQUARE.items()},
        dtypes=tiered(("float32", "float16", "float64")),
        fields=of.LOOSE,
        **_SHARED_INVERSE,
    ),
    *op("matrix-inverse-complex", "MatrixInverse", fields=of.WITHOUT_XLA_COMPLEX, **_SHARED_INVERSE),
    # Documented: an inverse that does not exist may be an error or anything. XLA's is anything.
    of.singular("matrix-inverse", "MatrixInverse", _inverse, modes=WITHOUT_XLA),
    *op(
        "matrix-solve",
        "MatrixSolve",
        forward={"nan": (of.with_nan, plain), "nan_right": (of.ordinary, of.right_with_nan)},
        batch={label: _solution_of(shape, 2) for label, shape in of.BATCHES.items()},
        small={
            **{label: {"only": _solution_of(shape, 1)} for label, shape in of.SMALL.items()},
            "no_columns": {"only": _solution_of((2, 2), 0)},
        },
        of_small=(of.ordinary, plain),
        wrong={
            **{label: Wrong(_solution, (shape, (*shape[:-1], 1))) for label, shape in of.NOT_SQUARE.items()},
            "unequal-rows": Wrong(_solution, ((3, 3), (2, 3))),
            "unequal-batches": Wrong(_solution, ((2, 3, 3), (3, 3, 1))),
            "no-broadcast": Wrong(_solution, ((2, 3, 3), (3, 1))),
            "right-vector": Wrong(_solution, ((3, 3), (3,))),
        },
        dtypes=tiered(("float32", "float64")),
        fields=of.LOOSE,
        **_SHARED_SOLUTION,
    ),
    of.beside("matrix-solve", "MatrixSolve", _solution_of((3, 2, 2), 1), (of.ordinary, plain)),
    *op("matrix-solve-complex", "MatrixSolve", fields=of.WITHOUT_XLA_COMPLEX, **_SHARED_SOLUTION),
    *op(
        "matrix-solve-of-xla",
        "MatrixSolve",
        calls=_SOLUTIONS,
        recipes={"plain": (of.ordinary, plain), "exact": (of.powers, plain)},
        fields=of.IN_XLA_ALONE | {"dtypes": ("float16",)},
    ),
    of.singular("matrix-solve", "MatrixSolve", _solution, (2, 2, 1)),
)
