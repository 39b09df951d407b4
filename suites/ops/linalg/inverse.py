"""Inverses and solutions of linear equations. Errors are those of LU and QR: see
`suites.reference.linear_algebra.linear`."""

from tf_opdiff.suites.forms.calls import call, each
from tf_opdiff.suites.forms.errors import unpromised_in
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.reference.linear_algebra.solving import Inverting, Matrix, Solving


def _inverse(tf, a, adjoint=False):
    return tf.raw_ops.MatrixInverse(input=a, adjoint=adjoint)


def _solution(tf, a, b, adjoint=False):
    return tf.raw_ops.MatrixSolve(matrix=a, rhs=b, adjoint=adjoint)


def _solving(adjoint=False):
    return Solving(Matrix(adjoint=adjoint))


def _right(shape, columns=1):
    """The shapes of a matrix and of right-hand sides."""
    return shape, (*shape[:-1], columns)


_OF_INVERSE = {"plain": of.ordinary, "graded": of.graded, "exact": of.powers, "upstreams": of.ordinary}

SPECS = (
    *op(
        "matrix-inverse",
        "MatrixInverse",
        also("-complex", second=("plain",), **of.COMPLEX_WITHOUT_XLA),
        # The bound of blocks, of 33 rows, is that of their condition, which is 64 to 116.
        also(
            "-blocks",
            calls=each(of.WARPS),
            recipes={"plain": of.ordinary},
            dtypes=("float32", "float16"),
            **of.loose(2**19),
        ),
        of.singular(
            **unpromised_in(
                "xla",
                "an inverse that does not exist may be an error or any result",
                "https://www.tensorflow.org/api_docs/python/tf/linalg/inv",
            )
        ),
        program=_inverse,
        promise=lambda adjoint=False: Inverting(_solving(adjoint)),
        # Every second call takes the adjoint.
        calls={label: call(shape, adjoint=n % 2 == 1) for n, (label, shape) in enumerate(of.MATRICES.items())},
        recipes=_OF_INVERSE,
        upstreams={"upstreams": of.sent},
        second=("plain",),
        forward={"nan": of.with_nan},
        batch=each(of.BATCHES),
        small=each(of.SMALL),
        of_small=of.ordinary,
        wrong=of.NOT_SQUARE,
        dtypes=tiered(("float32", "float16", "float64")),
        fields=of.loose(2**12),
        ordinary=of.ELIMINATION | of.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "matrix-solve",
        "MatrixSolve",
        of.next_to_special(call(*_right((3, 2, 2))), of.ordinary, plain),
        also("-complex", second=("plain",), **of.COMPLEX_WITHOUT_XLA),
        also(
            "-of-xla",
            recipes={"plain": (of.ordinary, plain), "exact": (of.powers, plain)},
            dtypes=("float16",),
            **of.OF_XLA,
        ),
        of.singular((2, 2, 1)),
        program=_solution,
        promise=_solving,
        calls={
            label: call(*_right(shape, columns), adjoint=n % 2 == 1)
            for n, ((label, shape), columns) in enumerate(zip(of.MATRICES.items(), (2, 1, 3, 4), strict=True))
        },
        recipes={label: (elements, plain) for label, elements in _OF_INVERSE.items()},
        upstreams={"upstreams": of.sent},
        second=("plain",),
        forward={"nan": (of.with_nan, plain), "nan_right": (of.ordinary, of.right_with_nan)},
        batch={label: call(*_right(shape, 2)) for label, shape in of.BATCHES.items()},
        small={label: call(*_right(shape)) for label, shape in of.SMALL.items()} | {"no_columns": call((2, 2), (2, 0))},
        of_small=(of.ordinary, plain),
        blocks={label: call(*_right(shape, 3)) for label, shape in of.WARPS.items()},
        of_blocks=(of.conditioned, plain),
        wrong={label: _right(shape) for label, (shape,) in of.NOT_SQUARE.items()}
        | {
            "unequal-rows": ((3, 3), (2, 3)),
            "unequal-batches": ((2, 3, 3), (3, 3, 1)),
            "no-broadcast": ((2, 3, 3), (3, 1)),
            "right-vector": ((3, 3), (3,)),
        },
        dtypes=tiered(("float32", "float64")),
        fields=of.loose(2**12),
        ordinary=of.ELIMINATION | of.NAN_IN_OWN_RECIPES,
    ),
)
