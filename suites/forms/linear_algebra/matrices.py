"""Matrices: shapes and recipes of batches of square matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, Draw
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import Call, Drawn
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.part import Op, Part, part, tiered
from tf_opdiff.suites.forms.recipes.elements import Elements, plain
from tf_opdiff.suites.forms.recipes.ordinary import not_finite

Shape = tuple[int, ...]
#: The fields of complex matrices, where XLA has no kernel for them.
COMPLEX_WITHOUT_XLA: dict[str, Any] = {"dtypes": tiered(COMPLEX, ()), "modes": WITHOUT_XLA}
#: The fields of specs of dtypes for which XLA alone has a kernel.
OF_XLA: dict[str, Any] = {"modes": ("xla",), "tier": "full"}
#: The matrices with special numbers that no promise is about: see `suites.forms.special_operands`.
NOT_DEFINITE = {"*_0": "only a positive definite matrix has factors, and one with such an element need not be definite"}
ELIMINATION = dict.fromkeys(("*inf_[01]", "sum_[01]"), "steps subtract infinities in an order that nothing documents")
ITERATION = not_finite("0", "the steps stop where numbers are small, which NaN and infinities never are")
IN_BLOCKS = {"nan_0": "nothing documents whether a solution in blocks multiplies NaN by a zero beside the triangle"}
NAN_IN_OWN_RECIPES = {"nan_[01]": "the op's own recipes have NaN in the matrix and in the right-hand side"}
WITHOUT_PIVOT = dict.fromkeys(("minus-zero_0", "subnormal_0"), "a zero on the diagonal leaves no inverse")
#: Batches of square matrices.
MATRICES: Mapping[str, Shape] = {
    "batch": (2, 3, 3),
    "matrix": (5, 5),
    "batch_of_one": (1, 4, 4),
    "deep": (2, 1, 2, 2),
}
#: Those with a first axis that is no matrix's.
BATCHES: Mapping[str, Shape] = {label: shape for label, shape in MATRICES.items() if len(shape) > 2}
#: Matrices with more rows than a warp has threads.
WARPS: Mapping[str, Shape] = {"warps": (2, 33, 33)}
#: Batches without elements, or with one.
SMALL: Mapping[str, Shape] = {
    "one": (1, 1),
    "none": (0, 0),
    "no_matrices": (0, 2, 2),
    "empty_inside": (2, 0, 0),
    "ones": (1, 1, 1),
}
#: Shapes that no op of square matrices takes, and those that no op of matrices takes.
NOT_SQUARE: Mapping[str, Sequence[Shape]] = {"not-square": ((2, 3),), "vector": ((3,),), "scalar": ((),)}
NOT_MATRICES = {label: NOT_SQUARE[label] for label in ("vector", "scalar")}
#: Batches of matrices that are not square, without elements, or with one.
SMALL_TALL: Mapping[str, Shape] = {
    "one": (1, 1),
    "none": (0, 0),
    "no_matrices": (0, 3, 2),
    "no_rows": (0, 3),
    "no_columns": (3, 0),
}
#: Powers of two by which the columns of a matrix are multiplied.
_SCALES = np.array([4.0, 0.125, 1.0, 16.0, 0.5])


def loose(roundings: float = 2**17, second: float = 0) -> dict[str, Any]:
    """The field `loose` of specs of matrices.

    A bound may have this many roundings of the largest number, or this many changes that a rounding of an input makes;
    `second` is the number for second derivatives, if they have another one.

    Worst errors of many steps are far above those that happen.
    """
    why = "a backward error in any element of the matrix reaches all elements of the result, small ones among them"
    rounded = dict.fromkeys(("output", "grad", "jvp"), roundings) | {"hvp": second or roundings}
    return {"loose": {kind: Loose(reason=why, last=2, size=1, roundings=n) for kind, n in rounded.items()}}


def _wide(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers in (-1, 1), and both parts of complex ones."""
    return draw.values(np.dtype("complex128" if dtype.kind == "c" else "float64"), *shape) / 4


def _rotated(n: int) -> np.ndarray:
    """The identity with its last row first: its pivots are not on the diagonal."""
    return np.roll(np.eye(n), 1, axis=0)


def ordinary(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Matrices of ordinary condition, whose pivots are in other rows."""
    return (_wide(draw, dtype, *shape) + 2 * _rotated(shape[-1])).astype(dtype)


def conditioned(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Matrices of good condition, of any size, whose pivots are in other rows."""
    return (_wide(draw, dtype, *shape) + 2 * shape[-1] * _rotated(shape[-1])).astype(dtype)


def graded(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Ordinary numbers, in columns of various sizes."""
    return (ordinary(draw, np.dtype(dtype), *shape) * np.resize(_SCALES, shape[-1])).astype(dtype)


def powers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Permutations whose ones are replaced by powers of two of both signs: nothing is rounded."""
    signs = 1 - 2 * draw.booleans(*shape[:-2], 1, shape[-1]).astype(int)
    return (_rotated(shape[-1]) * signs * np.resize(_SCALES, shape[-1])).astype(dtype)


def in_sizes(elements: Elements) -> Elements:
    """Matrices with columns of various sizes, made of those of these elements."""
    return lambda draw, dtype, *shape: (elements(draw, dtype, *shape) * 4.0 ** (np.arange(shape[-1]) % 4)).astype(dtype)


def dependent(elements: Elements) -> Elements:
    """Matrices of rank one, whose columns are exact multiples of the first of these elements."""
    return lambda draw, dtype, *shape: (elements(draw, dtype, *shape)[..., :1] * 2.0 ** np.arange(shape[-1])).astype(
        dtype
    )


def identity(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Ones on the diagonal."""
    return np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape).copy()


def zero(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Zeros."""
    return np.zeros(shape, dtype)


def triangular(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Matrices whose triangles are of ordinary condition, because the diagonal is large."""
    return (_wide(draw, dtype, *shape) + 2 * np.eye(shape[-1])).astype(dtype)


def definite(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Hermitian matrices that are positive definite, of ordinary condition."""
    x = ordinary(draw, np.dtype("complex128" if dtype.kind == "c" else "float64"), *shape)
    lower = np.tril(x @ np.conj(np.swapaxes(x, -1, -2)))
    above = np.conj(np.swapaxes(np.tril(lower, -1), -1, -2))
    return (lower + above + np.eye(shape[-1])).astype(dtype)


def unread(elements: Elements) -> Elements:
    """Matrices of these elements with NaN above the diagonal."""
    return lambda draw, dtype, *shape: np.where(
        np.triu(np.ones(shape[-2:], bool), 1), np.nan, elements(draw, dtype, *shape)
    ).astype(dtype)


def diagonal(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Powers of two on the diagonal, and zeros elsewhere: nothing is rounded."""
    return np.broadcast_to(np.eye(shape[-1]) * np.resize(_SCALES, shape[-1]), shape).astype(dtype)


def bands(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Three diagonals of matrices of ordinary condition, in which rows are exchanged: the lowest one is large."""
    return _with_large(2, draw, dtype, *shape)


def dominant_bands(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Three diagonals of matrices of ordinary condition: the main one is large."""
    return _with_large(1, draw, dtype, *shape)


def _with_large(row: int, draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    x = _wide(draw, dtype, *shape)
    x[..., row, :] += 2.5
    return x.astype(dtype)


def ending_in_nan(elements: Elements) -> Elements:
    """These elements; the last one of all is NaN."""

    def ended(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
        x = elements(draw, dtype, *shape)
        x[(-1,) * len(shape)] = np.nan
        return x

    return ended


with_nan = ending_in_nan(ordinary)
#: Right-hand sides with a NaN.
right_with_nan = ending_in_nan(plain)


def sent(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Upstreams: zeros of both signs and numbers; a NaN in the last of several matrices."""
    g = np.resize([0.0, -0.0, 1.0, -2.0, 0.5], shape).astype(dtype)
    if prod(shape[:-2]) > 1:
        g[(-1,) * len(shape)] = np.nan
    return g


def next_to_special(call: Call, *elements: Elements) -> Part:
    """A part: batches whose second part has infinities or NaN in its last input, and a result without a promise.

    Args:
      call: a call with batches of three parts.
      elements: those of each input.
    """

    def recipe(value: float) -> Recipe:
        def made(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
            xs = Drawn({"only": call}, elements)(draw, dtype)
            xs[-1][1] = value
            return xs

        return made

    def specs(op: Op) -> Iterable[Spec]:
        own = call.completed(op.called, op.promise)
        attrs = own.attrs

        def first_and_third(tf: Any, *xs: Any) -> Any:
            y = own.program(tf, *xs, **attrs)
            return tf.stack([y[0], y[2]])

        return part(
            "-beside-special",
            program=first_and_third,
            reference=lambda *xs: own.promise.f(*(x[::2] for x in xs), **attrs),
            recipes={"nan": recipe(np.nan), "infinite": recipe(np.inf)},
            bound={"output": lambda u, g, *xs: own.promise.error(u, *(x[::2] for x in xs), **attrs)},
            unsigned_zeros=("output",),
            lowest_tier=True,
        )(op)

    return specs


def these(*rows: Sequence[Any], right: Sequence[Shape] = ()) -> Recipe:
    """A recipe: an array of these rows, or matrices, and plain values of further shapes."""
    return lambda draw, dtype: (np.array(rows, dtype), *(draw.values(dtype, *shape) for shape in right))


def of_singular(*right: Shape) -> dict[str, Recipe]:
    """Recipes of two matrices, at least one without an inverse, and of plain values of these shapes."""
    regular, zero, flat = ((2, 1), (1, 3)), ((0, 0), (0, 0)), ((1, 2), (2, 4))
    pairs = {"zero": (zero, zero), "rank_one": (flat, flat), "one_of_two": (regular, flat)}
    return {label: these(*pair, right=right) for label, pair in pairs.items()}


def singular(*right: Shape, **fields: Any) -> Part:
    """A part: matrices that have no inverse, and further inputs of these shapes: an error."""
    error = raises("INVALID_ARGUMENT", "not invertible")
    return part("-singular", reference=error, recipes=of_singular(*right), loose={}, lowest_tier=True, **fields)
