"""Regions: recipes of one input that keep to a part of the numbers, or leave a part out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.reference.promises.wide import Differentiable

#: where(x, top): the numbers of a float64 array that are in a region; top is the largest number of the case's dtype.
Region = Callable[[np.ndarray, float], Any]


def infinite(x: np.ndarray, top: float) -> Any:
    """Infinities."""
    return np.isinf(x)


def minus_zero(x: np.ndarray, top: float) -> Any:
    """The zero with a sign."""
    return (x == 0) & np.signbit(x)


def nan(x: np.ndarray, top: float) -> Any:
    """NaN."""
    return np.isnan(x)


def tiny(x: np.ndarray, top: float) -> Any:
    """Numbers whose reciprocal is near the largest number."""
    return (np.abs(x) * top < 64) & (x != 0)


def zero(x: np.ndarray, top: float) -> Any:
    """Zeros of both signs."""
    return x == 0


def domain(low: float, high: float) -> Recipe:
    """A recipe: values all over an interval, and the neighbours of its ends on both sides."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x = draw.uniform(SIZE, low=low, high=high).astype(dtype)
        for i, limit in enumerate((low, high)):
            end = np.array(limit, dtype)
            beside = [np.nextafter(end, np.array(d, dtype), dtype=dtype) for d in (-np.inf, np.inf)] if end else []
            x[3 * i : 3 * i + 1 + len(beside)] = [end, *beside]
        return (x,)

    return recipe


def incomparable(function: Differentiable, dtype: np.dtype, x: np.ndarray) -> Any:
    """Where a comparison can't be strict.

    There the result or the gradient is subnormal, which one plan flushes and another keeps; or the derivative, which
    is computed before it meets a small upstream, overflows.
    """
    info = ml_dtypes.finfo(dtype)
    least, normal, top = (float(v) for v in (info.smallest_subnormal, info.smallest_normal, info.max))
    f, df = np.abs(function.f(x)), np.abs(function.df(x))
    flushed = ((f > least / 4) & (f < 1.01 * normal)) | ((df > least / 16) & (df < 4 * normal))
    return flushed | ((df > top / 4) & (df < 4 * top))


def within(region: Region, dtype: np.dtype, x: np.ndarray) -> Any:
    """Where numbers of this dtype are in a region."""
    return region(x, float(ml_dtypes.finfo(dtype).max))


def without(recipe: Recipe, unwanted: Callable[..., Any], spares: Sequence[float]) -> Recipe:
    """The recipe, with the first of the spares that is not unwanted(dtype, x) in the place of every unwanted value."""

    def rest(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        (x,), instead = recipe(draw, dtype), np.array(spares).astype(dtype)
        wanted = ~unwanted(dtype, instead.astype(np.float64))
        return (np.where(unwanted(dtype, x.astype(np.float64)), instead[wanted][0], x),)

    return rest


def only(recipes: Iterable[Recipe], region: Region, unwanted: Callable[..., Any]) -> Recipe:
    """A recipe: the values in a region that 20 draws of each recipe give, less those that are unwanted(dtype, x)."""
    recipes = tuple(recipes)

    def some(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x = np.concatenate([recipe(draw, dtype)[0] for _ in range(20) for recipe in recipes])
        x = x[within(region, dtype, x.astype(np.float64))]
        x = x[np.arange(SIZE) * len(x) // SIZE] if len(x) else x
        rest = x[~unwanted(dtype, x.astype(np.float64))]
        return (np.resize(rest if len(rest) else np.ones(1, dtype), SIZE),)

    return some
