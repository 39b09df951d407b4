"""Special upstreams: recipes that send zeros, infinities, NaN, tiny and huge numbers as upstream gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw, edges
from tf_opdiff.harness.spec.spec import Recipe

Upstream = Callable[..., np.ndarray]


def _values(*sizes: str | float) -> Callable[[np.dtype], np.ndarray]:
    """Numbers of both signs: the given ones, and the named limits of a dtype."""

    def values(dtype: np.dtype) -> np.ndarray:
        info = ml_dtypes.finfo(dtype)
        positive = np.array([float(getattr(info, size)) if isinstance(size, str) else size for size in sizes])
        return np.stack([positive, -positive], axis=1).ravel().astype(dtype)

    return values


#: name of a recipe → the upstreams that it sends, by dtype.
KINDS: Mapping[str, Callable[[np.dtype], np.ndarray]] = {
    "upstream_zero": _values(0.0),
    "upstream_infinite": lambda dtype: np.array([np.inf, -np.inf, np.nan]).astype(dtype),
    "upstream_tiny": _values("smallest_subnormal", "smallest_normal"),
    "upstream_huge": _values("max"),
}


def upstreams() -> dict[str, Upstream]:
    """Upstreams by recipe, as of a spec: the values of a kind in turn."""
    return {name: in_turn(values) for name, values in KINDS.items()}


def crossed(domain: Recipe) -> dict[str, Recipe]:
    """Recipes whose inputs meet every upstream of a kind: the edges, then values of the domain."""
    return {name: _inputs(domain, values) for name, values in KINDS.items()}


def in_turn(values: Callable[[np.dtype], np.ndarray]) -> Upstream:
    """The upstream that repeats the values of a dtype in their order."""
    return lambda draw, dtype, *shape: np.resize(values(dtype), shape)


#: Zeros of both signs, and numbers.
finite = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0, 0.5)).astype(dtype))
#: Zeros and infinities of both signs, NaN, and numbers.
every_kind = in_turn(lambda dtype: np.array((0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0)).astype(dtype))


def _inputs(domain: Recipe, values: Callable[[np.dtype], np.ndarray]) -> Recipe:
    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        repeats = len(values(dtype))
        (x,), (inside,) = edges(draw, dtype), domain(draw, dtype)
        _, first = np.unique(x.view(f"u{dtype.itemsize}"), return_index=True)
        apart = x[np.sort(first)]
        count = -(-SIZE // repeats)
        pool = np.concatenate([apart[:: -(-len(apart) * 2 // (count + 1))] if count < len(apart) else apart, inside])
        return (np.repeat(pool[:count], repeats)[:SIZE],)

    return recipe
