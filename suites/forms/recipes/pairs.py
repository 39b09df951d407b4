"""Recipes of two arguments and more."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw, edges, is_float
from tf_opdiff.suites.forms.recipes.left_out import LeavesOut, Region
from tf_opdiff.suites.reference.promises.function import Function

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
    return LeavesOut(recipe, extreme_regions(function, gradient), (1,) * len(function.partials))


def extreme_regions(function: Function, gradient: bool = True) -> dict[str, Region]:
    """The regions in which a result or a derivative of the function is subnormal, or a derivative overflows."""

    def tiny_result(dtype: np.dtype, *xs: np.ndarray) -> Any:
        f, info = np.abs(function.f(*xs)), ml_dtypes.finfo(dtype)
        return (f > float(info.smallest_subnormal) / 4) & (f < 1.01 * float(info.smallest_normal))

    def tiny_derivative(dtype: np.dtype, *xs: np.ndarray) -> Any:
        info = ml_dtypes.finfo(dtype)
        least, tiny = float(info.smallest_subnormal), float(info.smallest_normal)
        return _any_derivative(function, xs, lambda d: (d > least / 16) & (d < 4 * tiny))

    def huge_derivative(dtype: np.dtype, *xs: np.ndarray) -> Any:
        top = float(ml_dtypes.finfo(dtype).max)
        return _any_derivative(function, xs, lambda d: (d > top / 4) & (d < 4 * top))

    regions: dict[str, Region] = {"tiny_result": tiny_result}
    return {**regions, "tiny_derivative": tiny_derivative, "huge_derivative": huge_derivative} if gradient else regions


def _any_derivative(function: Function, xs: tuple[np.ndarray, ...], where: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Where a derivative has a size for which the condition holds."""
    regions = [where(np.abs(derivative(*xs))) for derivative in function.partials if derivative]
    return np.logical_or.reduce(regions) if regions else np.zeros(np.shape(xs[0]), bool)


def replaced(recipe: Recipe, condition: Region, *by: float) -> Recipe:
    """The recipe, with these values where condition(dtype, *arguments) holds; float arguments are widened."""
    return LeavesOut(recipe, {getattr(condition, "__name__", "region"): condition}, by)
