"""Integers: parts that promise what an op gives for integers, in two's complement; no gradient passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS, Draw, bit_patterns, edges, matrix, plain
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.op_types import taken_by_cpu
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import with_sizes
from tf_opdiff.suites.forms.part import Op, Part, part, together, unconnected
from tf_opdiff.suites.forms.recipes.left_out import KEPT, LeavesOut, Region
from tf_opdiff.suites.forms.recipes.pairs import PAIRS, crossed, edge_values, many

SIGNED = ("int8", "int16", "int32", "int64")
_PAIRS: dict[str, Recipe] = {"edges": crossed, "bits": many(bit_patterns), "plain": many(plain)}


#: The fields of an op of one float, integer or boolean that does not round; it promises a result for every number.
EXACT: dict[str, Any] = {
    "recipes": {"edges": edges, "bits": bit_patterns, "plain": plain, "matrix": matrix},
    "every_input": True,
}


def one_integer(reference: Callable[..., Any]) -> Part:
    """A part: an op on one integer, which also takes floats."""
    return with_sizes(integers(reference, **EXACT))


def integers(
    reference: Callable[..., Any], *, recipes: Mapping[str, Recipe] = _PAIRS, suffix: str = "-integer", **more: Any
) -> Part:
    """A part: an op on pairs of integers, in all dtypes for which a CPU has a kernel; `more` are further fields."""
    fields: dict[str, Any] = {"reference": reference, "vjp": unconnected, "recipes": recipes, **more}
    return lambda op: part(suffix, positions=True, dtypes=taken_by_cpu(op.raw, INTEGERS), **fields)(op)


def division(reference: Callable[..., Any]) -> Part:
    """A part: a division of integers, also by zero, and of the smallest number by -1."""
    pairs = {name: divisible(recipe) for name, recipe in _PAIRS.items()}
    by_zero = {
        "reference": raises("INVALID_ARGUMENT", "ivision by zero"),
        "recipes": {"zeros": _over_zero, "extremes": _extremes_over_zero},
    }
    beyond = {"smallest": _overflowing, "extremes": _extremes_beside_overflow}

    def specs(op: Op) -> Iterable[Spec]:
        signed = taken_by_cpu(op.raw, SIGNED)
        yield from part("-by-zero", dtypes=taken_by_cpu(op.raw, INTEGERS), **by_zero)(op)
        yield from part("-overflow", reference=reference, recipes=beyond, dtypes=signed)(op)

    return together(integers(reference, recipes={**pairs, "limits": divisible(crossed, _overflows_signed)}), specs)


def changed_bits(change: Callable[..., tuple[np.ndarray, ...]]) -> Recipe:
    """A recipe: random bits, after change(draw, dtype, x, y), which keeps the operation defined."""
    return lambda draw, dtype: change(draw, dtype, *many(bit_patterns)(draw, dtype))


def divisible(recipe: Recipe, overflows: Region | None = None) -> Recipe:
    """The recipe without zero divisors, and without the one quotient that overflows."""
    nonzero = LeavesOut(recipe, {"by_zero": _by_zero}, (KEPT, 3))
    return LeavesOut(nonzero, {"overflow": overflows or _overflows}, (KEPT, 2))


def _by_zero(dtype: np.dtype, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return y == 0


def _overflows(dtype: np.dtype, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where the smallest number is divided by -1; of unsigned numbers, 0 by the largest."""
    return (x == np.iinfo(dtype).min) & (y + 1 == 0)


def _overflows_signed(dtype: np.dtype, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _overflows(dtype, x, y) & (np.iinfo(dtype).min < 0)


def _over_zero(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Every third divisor is zero."""
    x, y = (r[:67] for r in divisible(many(plain))(draw, dtype))
    return x, np.where(np.arange(67) % 3 == 1, np.array(0, dtype), y)


def _extremes_over_zero(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Every edge value; only the last one is divided by zero."""
    x = np.resize(edge_values(draw, dtype), 67)
    return x, np.where(np.arange(67) == 66, 0, np.roll(np.where(x == 0, 1, x), 3)).astype(dtype)


def _extremes_beside_overflow(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The smallest numbers and their neighbours by -1, 1 and the limits."""
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, info.max, -1, 0, 1], dtype)
    return tuple(np.resize(a, 67) for a in np.meshgrid(x, np.array([-1, 1, info.min, info.max], dtype), indexing="ij"))


def _overflowing(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The smallest number by -1, and other numbers."""
    x, y = (r[:67] for r in divisible(many(plain))(draw, dtype))
    worst = np.arange(67) % 3 == 1
    return np.where(worst, np.iinfo(dtype).min, x).astype(dtype), np.where(worst, -1, y).astype(dtype)


def small_exponents(draw: Draw, dtype: np.dtype, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Small exponents, none of them negative."""
    return x, draw.integers(x.size, low=0, high=12).astype(dtype)


def huge_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The limits and numbers near zero to every exponent next to a power of two, up to the largest number."""
    powers = 2 ** np.arange(0, dtype.itemsize * 8 - 1, dtype=np.int64)
    exponents = np.unique([0, 1, 3, 5, *(powers - 1), *powers, np.iinfo(dtype).max, np.iinfo(dtype).max - 1])
    pairs = np.meshgrid(edge_values(draw, dtype), exponents.astype(dtype), indexing="ij")
    return tuple(np.resize(a, PAIRS) for a in pairs)


def extreme_negative_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The limits and numbers near zero to negative exponents, up to the smallest number."""
    info = np.iinfo(dtype)
    exponents = np.array([-1, -2, -3, -31, -32, info.min + 1, info.min], dtype)
    return tuple(np.resize(a, 67) for a in np.meshgrid(edge_values(draw, dtype), exponents, indexing="ij"))


def negative_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Bases 0, 1, -1 and others, to negative powers."""
    x = np.resize(np.array([0, 1, -1, 2, -3, 7], dtype), 67)
    return x, -draw.integers(67, low=1, high=6).astype(dtype)
