"""Tridiagonal matrices: their products, and systems of linear equations with them."""

from functools import partial

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.elements import not_numbers, plain, small_integers, tiny
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.solving import Solving
from tf_opdiff.suites.reference.tridiagonal import Bands, TridiagonalProduct

_REST = ("float64", *COMPLEX)


def _product(tf, above, main, below, x):
    return tf.raw_ops.TridiagonalMatMul(superdiag=above, maindiag=main, subdiag=below, rhs=x)


def _product_of(batch, n, columns):
    return Call(_product, TridiagonalProduct(), (*((*batch, 1, n),) * 3, (*batch, n, columns)))


def _solution(tf, diagonals, b, **attrs):
    return tf.raw_ops.TridiagonalSolve(diagonals=diagonals, rhs=b, **attrs)


def _solution_of(batch, n, columns, pivot=True):
    shapes = ((*batch, 3, n), (*batch, n, columns))
    return Call(partial(_solution, partial_pivoting=pivot), Solving(Bands(pivot)), shapes)


_SHAPES = {
    "batch": ((2,), 5, 3),
    "matrix": ((), 7, 1),
    "batch_of_one": ((1,), 3, 4),
    "two": ((2, 1), 2, 2),
    "one": ((2,), 1, 2),
}
_SMALL = {
    "one": ((), 1, 1),
    "no_columns": ((), 2, 0),
    "no_matrices": ((0,), 2, 1),
    "ones": ((1,), 1, 1),
}
#: Arguments that no product takes: the shapes of three diagonals and of a matrix.
_WRONG_PRODUCTS = {
    "vector": ((3,), (3,), (3,), (3, 1)),
    "two-rows": ((2, 3), (1, 3), (1, 3), (3, 1)),
    "unequal-diagonals": ((1, 3), (1, 4), (1, 3), (3, 1)),
    "unequal-rows": ((1, 3), (1, 3), (1, 3), (4, 1)),
    "unequal-batches": ((2, 1, 3), (2, 1, 3), (2, 1, 3), (3, 3, 1)),
}
_WRONG_SOLUTIONS = {
    "two-diagonals": ((2, 3), (3, 1)),
    "vector": ((3,), (3, 1)),
    "unequal-rows": ((3, 3), (4, 1)),
    "unequal-batches": ((2, 3, 3), (3, 3, 1)),
    "right-vector": ((3, 3), (3,)),
}


def _solving(name, pivot, **fields):
    """The specs of solutions with and without exchanges of rows."""
    elements = of.bands if pivot else of.dominant_bands
    return op(
        name,
        "TridiagonalSolve",
        calls={label: _solution_of(*sizes, pivot=pivot) for label, sizes in _SHAPES.items()},
        recipes={"plain": (elements, plain), "upstreams": (elements, plain)},
        forward={"nan_right": (elements, of.right_with_nan)},
        batch={label: _solution_of(*sizes, pivot=pivot) for label, sizes in _SHAPES.items() if sizes[0]},
        small={label: {"only": _solution_of(*sizes, pivot=pivot)} for label, sizes in _SMALL.items()},
        of_small=(of.dominant_bands, plain),
        upstreams={"upstreams": of.sent},
        dtypes=tiered(("float32", *_REST)),
        second=("plain",),
        **fields,
    )


SPECS = (
    *op(
        "tridiagonal-matmul",
        "TridiagonalMatMul",
        calls={label: _product_of(*sizes) for label, sizes in _SHAPES.items()},
        recipes={"plain": (plain,), "exact": (small_integers,), "upstreams": (plain,)},
        batch={label: _product_of(*sizes) for label, sizes in _SHAPES.items() if sizes[0]},
        forward={"special": (not_numbers,), "tiny": (tiny,)},
        small={label: {"only": _product_of(*sizes)} for label, sizes in _SMALL.items()},
        upstreams={"upstreams": of.sent},
        wrong={label: Wrong(_product, shapes) for label, shapes in _WRONG_PRODUCTS.items()},
        dtypes=tiered(("float32", "float64")),
        second=("plain",),
    ),
    *op(
        "tridiagonal-matmul-complex",
        "TridiagonalMatMul",
        calls={label: _product_of(*sizes) for label, sizes in _SHAPES.items()},
        recipes={"plain": (plain,), "exact": (small_integers,), "upstreams": (plain,)},
        upstreams={"upstreams": of.sent},
        second=("plain",),
        fields={"dtypes": COMPLEX, "tier": "full"},
    ),
    *_solving(
        "tridiagonal-solve",
        pivot=True,
        fields={**of.LOOSE, "modes": WITHOUT_XLA},
        wrong={label: Wrong(_solution, shapes) for label, shapes in _WRONG_SOLUTIONS.items()},
    ),
    *_solving("tridiagonal-solve-thomas", pivot=False, fields=of.LOOSE),
)
