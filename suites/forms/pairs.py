"""Recipes of two arguments and more."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import SIZE, Draw, edges, is_float
from tf_opdiff.suites.reference.function import Function

#: A float has 29 edge values, and so 841 pairs of them. All recipes of floats have that size: one compilation.
EDGES = 29
PAIRS = EDGES * EDGES
Recipe = Callable[[Draw, np.dtype], tuple[np.ndarray, ...]]


def edge_values(draw: Draw, dtype: np.dtype) -> np.ndarray:
    """The edge values of a dtype, once each."""
    values = edges(draw, dtype)[0]
    return values[:EDGES] if is_float(dtype) else np.unique(values)


def crossed(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Every edge value with every other; a dtype with fewer edge values than a float repeats its pairs."""
    values = edge_values(draw, dtype)
    return tuple(np.resize(a, PAIRS) for a in np.meshgrid(values, values, indexing="ij"))


def many(recipe: Recipe, count: int = 2, size: int = PAIRS) -> Recipe:
    """A recipe of several arguments, from a recipe of one."""

    def drawn(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        parts = -(-size // SIZE)
        return tuple(np.concatenate([recipe(draw, dtype)[0] for _ in range(parts)])[:size] for _ in range(count))

    return drawn


def within(*intervals: tuple[float, float], size: int = PAIRS) -> Recipe:
    """A recipe: each argument all over its interval."""
    return lambda draw, dtype: tuple(draw.uniform(size, low=a, high=b).astype(dtype) for a, b in intervals)


def shaped(*shapes: tuple[int, ...]) -> Recipe:
    """A recipe: arguments of these shapes."""
    return lambda draw, dtype: tuple(draw.values(dtype, *shape) for shape in shapes)


def normal(recipe: Recipe, function: Function, gradient: bool = True) -> Recipe:
    """The recipe with 1 in place of inputs whose result or gradient is subnormal: some plans flush it, others do not.

    Inputs whose derivative overflows, or nearly so, are replaced too: a derivative is computed before it is multiplied
    by an upstream that may be small.
    """

    def tamed(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs, info = recipe(draw, dtype), ml_dtypes.finfo(dtype)
        least, tiny, top = (float(v) for v in (info.smallest_subnormal, info.smallest_normal, info.max))
        wide = [x.astype(np.float64) for x in xs]
        f = np.abs(function.f(*wide))
        lost = (f > least / 4) & (f < 1.01 * tiny)
        for derivative in filter(None, function.partials if gradient else ()):
            d = np.abs(derivative(*wide))
            lost |= ((d > least / 16) & (d < 4 * tiny)) | ((d > top / 4) & (d < 4 * top))
        return tuple(np.where(lost, np.array(1, dtype), x) for x in xs)

    return tamed


def replaced(recipe: Recipe, condition: Callable[..., Any], *by: float) -> Recipe:
    """The recipe, with these values where condition(dtype, *arguments) holds; float arguments are widened."""

    def changed(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = recipe(draw, dtype)
        where = condition(dtype, *(x.astype(np.float64) if is_float(dtype) else x for x in xs))
        return tuple(np.where(where, np.array(b, dtype), x) for x, b in zip(xs, by, strict=True))

    return changed
