"""Triangular systems of linear equations. Errors are those of substitution: see
`suites.reference.linear_algebra.linear`."""

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.errors import undocumented
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.reference.linear_algebra.solving import Matrix, Solving

_REMOVED = Removed("BatchMatrixTriangularSolve", ("matrix", "rhs"), version=13)


def _solution(tf, a, b, **attrs):
    return tf.raw_ops.MatrixTriangularSolve(matrix=a, rhs=b, **attrs)


def _solving(lower, adjoint):
    return Solving(Matrix("lower" if lower else "upper", adjoint))


def _call(a, b, lower=True, adjoint=False):
    return call(a, b, lower=lower, adjoint=adjoint)


_CALLS = {
    "lower": _call((2, 3, 3), (2, 3, 2)),
    "upper": _call((5, 5), (5, 1), lower=False),
    "lower_adjoint": _call((1, 4, 4), (1, 4, 3), adjoint=True),
    "upper_adjoint": _call((2, 1, 3, 3), (2, 1, 3, 4), lower=False, adjoint=True),
}
_SMALL = {label: _call(shape, (*shape[:-1], 1)) for label, shape in of.SMALL.items()} | {
    "no_columns": _call((2, 2), (2, 0))
}
_RECIPES = {"plain": (of.triangular, plain), "exact": (of.diagonal, plain)}
#: Lower triangles with zeros on the diagonal, next to one with an inverse.
_WITHOUT_PIVOTS = {
    label: of.these(triangle, ((2, 0), (1, 3)), right=[(2, 2, 1)])
    for label, triangle in {"first": ((0, 0), (1, 3)), "last": ((2, 0), (1, 0)), "both": ((0, 0), (0, 0))}.items()
}

SPECS = (
    *op(
        "batch-matrix-triangular-solve",
        _REMOVED.op,
        program=_REMOVED,
        promise=_solving,
        calls=_CALLS,
        recipes=_RECIPES,
        small=_SMALL,
        of_small=(of.triangular, plain),
        dtypes=tiered(("float32", "float64")),
        gradient=False,
        fields=_REMOVED.fields | of.loose(),
        ordinary=of.ELIMINATION | of.WITHOUT_PIVOT | of.IN_BLOCKS,
    ),
    *op(
        "matrix-triangular-solve",
        "MatrixTriangularSolve",
        of.next_to_special(_call((3, 2, 2), (3, 2, 1)), of.triangular, plain),
        also("-of-xla", calls=_CALLS, recipes=_RECIPES, dtypes=("float16", "bfloat16"), **of.OF_XLA),
        part(
            "-without-pivots",
            program=lambda tf, a, b: _solution(tf, a, b, lower=True, adjoint=False),
            reference=undocumented("nothing documents a solution without an inverse", error=False),
            recipes=_WITHOUT_PIVOTS,
            loose={},
            lowest_tier=True,
        ),
        also(
            "-unread",
            calls={"lower": _call((2, 3, 3), (2, 3, 2)), "lower_adjoint": _call((4, 4), (4, 1), adjoint=True)},
            recipes={"nan_above": (of.unread(of.triangular), plain)},
            dtypes=("float32",),
        ),
        program=_solution,
        promise=_solving,
        calls={
            **_CALLS,
            "broadcast_left": _call((3, 3), (2, 3, 2)),
            "broadcast_right": _call((2, 1, 2, 2), (3, 2, 2), lower=False),
        },
        recipes={**_RECIPES, "upstreams": (of.triangular, plain)},
        upstreams={"upstreams": of.sent},
        second=("plain",),
        forward={"nan_right": (of.triangular, of.right_with_nan)},
        batch={label: _call(shape, (*shape[:-1], 2)) for label, shape in of.BATCHES.items()},
        small=_SMALL,
        of_small=(of.triangular, plain),
        blocks={label: _call(shape, (*shape[:-1], 3)) for label, shape in of.WARPS.items()},
        of_blocks=(of.triangular, plain),
        wrong={label: (shape, (*shape[:-1], 1)) for label, (shape,) in of.NOT_SQUARE.items()}
        | {
            "unequal-rows": ((3, 3), (2, 3)),
            "unequal-batches": ((2, 3, 3), (3, 3, 1)),
            "right-vector": ((3, 3), (3,)),
        },
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        fields=of.loose(),
        ordinary=of.ELIMINATION | of.WITHOUT_PIVOT | of.IN_BLOCKS,
    ),
)
