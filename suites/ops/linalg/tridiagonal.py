"""Tridiagonal matrices: their products, and systems of linear equations with them."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.errors import UNSUPPORTED, undocumented
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain, small_integers, tiny
from tf_opdiff.suites.reference.linear_algebra.solving import Solving
from tf_opdiff.suites.reference.linear_algebra.tridiagonal import Bands, TridiagonalProduct


def _product(batch, n, columns):
    return call(*((*batch, 1, n),) * 3, (*batch, n, columns))


def _solution(batch, n, columns):
    return call((*batch, 3, n), (*batch, n, columns), partial_pivoting=True)


def _thomas(batch, n, columns):
    return call((*batch, 3, n), (*batch, n, columns), partial_pivoting=False)


def _of(call_of):
    """The calls of these sizes: of batches, of the numbers of rows, and of columns."""
    calls = {
        "batch": call_of((2,), 5, 3),
        "matrix": call_of((), 7, 1),
        "batch_of_one": call_of((1,), 3, 4),
        "two": call_of((2, 1), 2, 2),
        "one": call_of((2,), 1, 2),
    }
    small = {
        "one": call_of((), 1, 1),
        "no_columns": call_of((), 2, 0),
        "no_matrices": call_of((0,), 2, 1),
        "ones": call_of((1,), 1, 1),
    }
    batch = {label: one for label, one in calls.items() if label != "matrix"}
    return {"calls": calls, "small": small, "batch": batch, "upstreams": {"upstreams": of.sent}, "second": ("plain",)}


#: Batches of three diagonals, above, on and below the main one: an ordinary matrix; a zero as the first pivot; singular
#: ones, whose pivot is 0 in the middle or at the end, and zeros.
_REGULAR, _NO_FIRST = [[1, 1, 0], [4, 4, 4], [0, 1, 1]], [[2, 1, 0], [0, 4, 4], [0, 3, 1]]
_NO_SECOND, _NO_LAST = [[1, 1, 0], [1, 1, 2], [0, 1, 1]], [[1, 1, 0], [1, 2, 1], [0, 1, 1]]
_PAIRS: dict[str, tuple[Any, Any]] = {
    "regular": (_REGULAR, _REGULAR),
    "first": (_REGULAR, _NO_FIRST),
    "second": (_NO_SECOND, _REGULAR),
    "last": (_REGULAR, _NO_LAST),
    "zeros": (np.zeros((3, 3)), _REGULAR),
}
_WITHOUT_PIVOTS = {label: of.these(*bands, right=((2, 3, 2),)) for label, bands in _PAIRS.items()}


def _without_pivots(partial_pivoting):
    """A part: systems that meet a pivot of 0, also with their gradients: nothing documents a result, or an error.

    https://www.tensorflow.org/api_docs/python/tf/linalg/tridiagonal_solve
    """

    def with_gradients(tf, diagonals, rhs):
        with tf.GradientTape() as tape:
            tape.watch([diagonals, rhs])
            x = tf.raw_ops.TridiagonalSolve(diagonals=diagonals, rhs=rhs, partial_pivoting=partial_pivoting)
        return x, *tape.gradient(x, [diagonals, rhs])

    def singular(diagonals, rhs):
        return any(d.tolist() != _REGULAR for d in diagonals)

    return part(
        "-without-pivots",
        program=with_gradients,
        reference=undocumented("the documentation calls the solution of a singular system undefined", error=singular),
        recipes=_WITHOUT_PIVOTS,
        loose={},
        lowest_tier=True,
    )


def _zero_first(draw, dtype, *shape):
    """`of.bands` with a zero as the first number of the main diagonal, so that the first two rows are exchanged."""
    x = of.bands(draw, dtype, *shape)
    x[..., 1, : shape[-1] - 1][..., :1] = 0
    return x


def _solving(bands, **recipes) -> dict[str, Any]:
    """What solutions have in common, with bands of this kind, and with further recipes."""
    return {
        "recipes": {"plain": (bands, plain), "upstreams": (bands, plain), **recipes},
        "forward": {"nan_right": (bands, of.right_with_nan)},
        "of_small": (of.dominant_bands, plain),
        "arguments": ("diagonals", "rhs"),
        "promise": lambda partial_pivoting: Solving(Bands(partial_pivoting)),
        "dtypes": tiered(("float32", "float64", *COMPLEX)),
    }


SPECS = (
    *op(
        "tridiagonal-matmul",
        "TridiagonalMatMul",
        also("-complex", dtypes=tiered(COMPLEX, ()), second=("plain",)),
        promise=TridiagonalProduct(),
        recipes={"plain": plain, "exact": small_integers, "upstreams": plain},
        forward={"special": not_numbers, "tiny": tiny},
        wrong={
            "vector": ((3,), (3,), (3,), (3, 1)),
            "two-rows": ((2, 3), (1, 3), (1, 3), (3, 1)),
            "unequal-diagonals": ((1, 3), (1, 4), (1, 3), (3, 1)),
            "unequal-rows": ((1, 3), (1, 3), (1, 3), (4, 1)),
            "unequal-batches": ((2, 1, 3), (2, 1, 3), (2, 1, 3), (3, 3, 1)),
        },
        dtypes=tiered(("float32", "float64")),
        **_of(_product),
    ),
    *op(
        "tridiagonal-solve",
        "TridiagonalSolve",
        _without_pivots(partial_pivoting=True),
        # XLA's kernel has the algorithm of Thomas alone.
        part(
            "-with-pivots",
            recipes={"plain": _WITHOUT_PIVOTS["regular"]},
            modes=("xla",),
            loose={},
            lowest_tier=True,
            **UNSUPPORTED,
        ),
        wrong={
            "two-diagonals": ((2, 3), (3, 1)),
            "vector": ((3,), (3, 1)),
            "unequal-rows": ((3, 3), (4, 1)),
            "unequal-batches": ((2, 3, 3), (3, 3, 1)),
            "right-vector": ((3, 3), (3,)),
        },
        **_of(_solution),
        **_solving(of.bands, zero_first=(_zero_first, plain)),
        fields={**of.loose(), "modes": WITHOUT_XLA},
        ordinary=of.ELIMINATION
        | of.WITHOUT_PIVOT
        | {"nan_0": "the search for a pivot compares NaN with numbers, and may take either"},
    ),
    *op(
        "tridiagonal-solve-thomas",
        "TridiagonalSolve",
        _without_pivots(partial_pivoting=False),
        **_of(_thomas),
        **_solving(of.dominant_bands),
        fields=of.loose(),
        without={"option": "perturb_singular needs partial pivoting, which the algorithm of Thomas does not have"},
        ordinary=of.ELIMINATION | of.WITHOUT_PIVOT,
    ),
)
