"""Left out: recipes that replace the inputs of a region, and recipes that bring such a region back.

Whatever one recipe leaves out, another recipe of the same op has to test: `suites/tests/aspects/test_left_out.py`
compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe

#: region(dtype, *inputs) → where the inputs are in it; float inputs arrive as float64.
Region = Callable[..., Any]
#: In place of a value: the input stays.
KEPT = None


def widened(xs: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The inputs with floats as float64."""
    return [x.astype(np.float64) if is_float(x.dtype) else x for x in xs]


@dataclass(frozen=True)
class LeavesOut:
    """A recipe with the values `by` in place of the inputs of `recipe` in one of the regions; `KEPT` keeps an input."""

    recipe: Recipe
    regions: Mapping[str, Region]
    by: tuple[float | None, ...]

    def __call__(self, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = self.recipe(draw, dtype)
        lost = np.logical_or.reduce([region(dtype, *widened(xs)) for region in self.regions.values()])
        pairs = zip(xs, self.by, strict=True)
        return tuple(x if b is KEPT else np.where(lost, np.array(b).astype(x.dtype), x) for x, b in pairs)


def left_out(recipe: Recipe) -> Iterator[tuple[Recipe, str, Region]]:
    """Triples (inner recipe, name, region) of each region that a recipe, or a recipe inside it, leaves out."""
    while isinstance(recipe, LeavesOut):
        yield from ((recipe.recipe, name, region) for name, region in recipe.regions.items())
        recipe = recipe.recipe


def brought_back(recipes: Iterable[Recipe], regions: Mapping[str, Region], size: int, *, draws: int = 6) -> Recipe:
    """A recipe: the inputs in the regions that several draws of each recipe give, repeated up to `size`.

    Every region that has inputs gets an equal share. If no region has any, as for a dtype in which nothing is left
    out, the recipe gives inputs outside the regions.
    """
    recipes = tuple(recipes)

    def only(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        drawn = [recipe(draw, dtype) for _ in range(draws) for recipe in recipes]
        xs = [np.concatenate(parts) for parts in zip(*drawn, strict=True)]
        wide, shape = widened(xs), xs[0].shape
        places = [np.flatnonzero(np.broadcast_to(region(dtype, *wide), shape)) for region in regions.values()]
        usable = [at for at in places if at.size] or [np.arange(shape[0])]
        shares = [at[np.arange(size) * at.size // size] for at in usable]
        chosen = np.concatenate([share[i :: len(shares)] for i, share in enumerate(shares)])
        return tuple(x[chosen] for x in xs)

    return only
