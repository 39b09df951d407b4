"""Hard inputs: recipes of one float input at which a function or its derivative leaves the normal numbers.

The common recipes leave out inputs whose result is subnormal or whose derivative is near the largest number, because no
strict promise holds there. These recipes bring them back, under the promises of `suites.forms.elementwise.flushed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.reference.promises.wide import Differentiable, Wide

#: Classes of a value: it rounds to 0, is subnormal, is normal, is near the largest number, is infinite or NaN.
_ZERO, _SUBNORMAL, _NORMAL, _LARGE, _BEYOND = range(5)
#: Halvings of an interval at whose ends the classes differ.
_HALVINGS = 14
Unwanted = Callable[[np.dtype, np.ndarray], np.ndarray]


def underflowing(function: Differentiable, unwanted: Unwanted) -> Recipe:
    """A recipe: subnormals of all sizes, neighbours of the smallest normal number, inputs with subnormal results.

    Args:
      function: the function and its derivative; an input counts if either is subnormal.
      unwanted: unwanted(dtype, x) → the inputs that the recipe leaves out.
    """

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        info = ml_dtypes.finfo(dtype)
        random = 2.0 ** draw.integers(6, low=0, high=info.nmant) + draw.integers(6, low=0, high=4)
        whole = 2.0**info.nmant
        steps = np.array([1, 2, 3, whole - 2, whole - 1, whole, whole + 1, 2 * whole, 4 * whole, *random])
        small = steps * float(info.smallest_subnormal)
        edge = _boundaries(function, dtype)[_SUBNORMAL]
        return (_mixed([small, -small], edge, dtype, unwanted),)

    return recipe


def overflowing(function: Differentiable, unwanted: Unwanted) -> Recipe:
    """A recipe: the largest numbers, those whose squares overflow, inputs with results near the largest number."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        top = float(ml_dtypes.finfo(dtype).max)
        large = np.concatenate(
            [
                _neighbours(np.array([top, np.sqrt(top), np.sqrt(top) / 2]), dtype, (0, 1)),
                top * powers(2, -draw.uniform(4, low=0, high=4)),
                powers(top, draw.uniform(8, low=0.25, high=1)),
            ]
        )
        edge = _boundaries(function, dtype)[_LARGE]
        return (_mixed([large, -large], edge, dtype, unwanted),)

    return recipe


def singular(points: Iterable[float], unwanted: Unwanted) -> Recipe:
    """A recipe: zeros, ones and further points, each with neighbours on both sides, near and far; small numbers."""
    finite = sorted({abs(p) for p in points if np.isfinite(p)} | {1.0})

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        info = ml_dtypes.finfo(dtype)
        steps = (0, 1, 2, 2 ** (info.nmant // 2), 2 ** (info.nmant - 3))
        around = _neighbours(np.array([p for p in finite if p]), dtype, steps)
        small = powers(2, -draw.uniform(8, low=1, high=-info.minexp))
        one_sign = np.concatenate([[0.0], around, small])
        return (_mixed([one_sign, -one_sign], np.zeros(0), dtype, unwanted),)

    return recipe


def _neighbours(points: np.ndarray, dtype: np.dtype, steps: Iterable[int]) -> np.ndarray:
    """Numbers of a dtype that are so many numbers away from positive points, on both sides; float64."""
    bits = np.abs(points).astype(dtype).view(f"u{dtype.itemsize}").astype(np.uint64)
    moved = [
        b.astype(f"u{dtype.itemsize}").view(dtype) for n in steps for b in (bits + np.uint64(n), bits - np.uint64(n))
    ]
    return np.unique(np.concatenate(moved).astype(np.float64))


def _mixed(parts: list[np.ndarray], edge: np.ndarray, dtype: np.dtype, unwanted: Unwanted) -> np.ndarray:
    """The wanted values in turn, in an array of the common size; of many at an edge, some."""
    edge = edge[~unwanted(dtype, edge)]
    values = np.concatenate(parts).astype(dtype)
    spare = max(8, SIZE - len(values))
    some = edge[np.arange(spare) * len(edge) // spare] if len(edge) > spare else edge
    values = np.concatenate([values, some.astype(dtype)])
    wanted = values[~unwanted(dtype, values.astype(np.float64))]
    if not len(wanted):
        grid = np.concatenate([[1.0], *_grids(dtype)])
        wanted = grid[~unwanted(dtype, grid)][:1].astype(dtype)
    _, first = np.unique(wanted.view(f"u{dtype.itemsize}"), return_index=True)
    return np.resize(wanted[np.sort(first)][:SIZE], SIZE)


def _grids(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a dtype all over the range of exponents, positive and negative; float64."""
    info = ml_dtypes.finfo(dtype)
    exponents = np.linspace(info.minexp - info.nmant, info.maxexp, 40, endpoint=False)
    grid = powers(2, exponents).astype(dtype).astype(np.float64)
    return grid, -grid


@lru_cache(maxsize=512)
def _boundaries(function: Differentiable, dtype: np.dtype) -> dict[int, np.ndarray]:
    """Inputs at which the function or its derivative has a class, found between inputs of other classes; by class."""
    hits = [
        _searched(partial(_classes_of, f, dtype), grid[:-1], grid[1:], dtype)
        for grid in _grids(dtype)
        for f in (function.f, function.df)
    ]
    x, classes = (np.concatenate(arrays) for arrays in zip(*hits, strict=True))
    return {wanted: np.unique(x[classes == wanted]) for wanted in (_SUBNORMAL, _LARGE)}


def _searched(
    classes: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """The inputs that bisection meets between neighbours of different classes, float64, and their classes."""
    inputs, met = [], []
    at_low, at_high = classes(low), classes(high)
    for _ in range(_HALVINGS):
        differs = at_low != at_high
        low, high, at_low, at_high = (a[differs] for a in (low, high, at_low, at_high))
        middle = np.copysign(np.sqrt(np.abs(low)) * np.sqrt(np.abs(high)), low).astype(dtype).astype(np.float64)
        between = (middle != low) & (middle != high)
        low, high, at_low, at_high, middle = (a[between] for a in (low, high, at_low, at_high, middle))
        at_middle = classes(middle)
        inputs.append(middle)
        met.append(at_middle)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        at_low, at_high = np.concatenate([at_low, at_middle]), np.concatenate([at_middle, at_high])
    return np.concatenate(inputs), np.concatenate(met)


def _classes_of(f: Wide, dtype: np.dtype, x: np.ndarray) -> np.ndarray:
    """The class of each value of a function, as rounded to a dtype."""
    info, size = ml_dtypes.finfo(dtype), np.abs(f(x))
    normal, top = float(info.smallest_normal), float(info.max)
    limits = [size < np.longdouble(info.smallest_subnormal) / 2, size < 1.01 * normal, size < top / 4, size < 4 * top]
    return np.select(limits, [_ZERO, _SUBNORMAL, _NORMAL, _LARGE], default=_BEYOND)
