"""Hard pairs: recipes of two floats, and upstreams, at which kernels often fail; each has the size of `PAIRS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, plain, subnormals
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.recipes.left_out import Region, brought_back
from tf_opdiff.suites.forms.recipes.pairs import PAIRS, crossed, many

#: Upstream(draw, dtype, *shape) → the upstream gradients of a recipe.
Upstream = Callable[..., np.ndarray]


def special_values(dtype: np.dtype) -> np.ndarray:
    """Ten numbers at which functions of floats change: zeros, ones, NaN, infinities, the largest and the smallest."""
    info = ml_dtypes.finfo(dtype)
    top, tiny = float(info.max), float(info.smallest_normal)
    return np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, top, -top, tiny]).astype(dtype)


def special_upstreams(dtype: np.dtype) -> np.ndarray:
    """Eight upstreams: zeros, NaN, infinities, the largest and the smallest normal number, and a subnormal one.

    Of integers: the limits and the numbers around zero.
    """
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1], dtype)
    top, tiny = (float(v) for v in (ml_dtypes.finfo(dtype).max, ml_dtypes.finfo(dtype).smallest_normal))
    return np.array([0.0, -0.0, np.nan, np.inf, -np.inf, top, tiny, 0.75 * tiny]).astype(dtype)


def of_all_sizes(draw: Draw, dtype: np.dtype, size: int) -> np.ndarray:
    """Normal numbers of both signs: every exponent is about equally likely, from the smallest to the largest."""
    info = ml_dtypes.finfo(dtype)
    exponents = draw.integers(size, low=int(info.minexp), high=int(info.maxexp))
    digits = 1 + draw.integers(size, low=0, high=2**info.nmant) * 2.0**-info.nmant
    return (np.ldexp(digits, exponents) * np.where(draw.booleans(size), 1, -1)).astype(dtype)


def tiny_numbers(draw: Draw, dtype: np.dtype, size: int) -> np.ndarray:
    """Subnormal numbers of both signs: the smallest, the largest, and random ones of all sizes."""
    info = ml_dtypes.finfo(dtype)
    steps = draw.bits(size) % np.uint64(2**info.nmant) >> draw.bits(size) % np.uint64(info.nmant)
    values = np.maximum(steps, 1).astype(np.float64) * float(info.smallest_subnormal)
    values[:12] = subnormals(draw, dtype)[0][:12].astype(np.float64)
    return (values * np.where(draw.booleans(size), 1, -1)).astype(dtype)


def tiny(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormal numbers with subnormal, plain, huge and special numbers, and with all sizes, in either order."""
    x, y = (tiny_numbers(draw, dtype, 200) for _ in "xy")
    top = float(ml_dtypes.finfo(dtype).max)
    huge = (draw.uniform(80, low=top / 4, high=top) * np.where(draw.booleans(80), 1, -1)).astype(dtype)
    others = np.concatenate(
        [draw.values(dtype, 120), huge, np.resize(special_values(dtype), 60), of_all_sizes(draw, dtype, 60)]
    )
    small = np.resize(x, others.size)
    first, second = np.concatenate([x, small, others]), np.concatenate([y, others, np.roll(small, 7)])
    return np.resize(first, PAIRS), np.resize(second, PAIRS)


def exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers of all sizes with numbers of all sizes; equal, opposite and neighbouring pairs among them."""
    x, y = (of_all_sizes(draw, dtype, PAIRS) for _ in "xy")
    near = x[:200].copy()
    near[50:100] *= -1
    for part, direction in ((slice(100, 150), np.inf), (slice(150, 200), -np.inf)):
        near[part] = np.nextafter(near[part], np.array(direction, dtype), dtype=dtype)
    y[:200] = near
    return x, y


def special_pairs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Each special value with each other, so often that `crossed_upstreams` gives every pair every special upstream."""
    values, count = special_values(dtype), special_upstreams(dtype).size
    x, y = (np.repeat(a, count) for a in np.meshgrid(values, values, indexing="ij"))
    return np.resize(x, PAIRS), np.resize(y, PAIRS)


def crossed_upstreams(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Every special upstream in turn; of complex numbers, every special real part with every special imaginary part."""
    if dtype.kind != "c":
        return np.resize(special_upstreams(dtype), shape)
    part = special_upstreams(np.dtype(f"f{dtype.itemsize // 2}"))
    numbers = np.empty(part.size**2, dtype)
    numbers.real, numbers.imag = np.repeat(part, part.size), np.tile(part, part.size)
    return np.resize(numbers, shape)


def hard_pairs(left_out: Mapping[str, Mapping[str, Region]], *extra: Recipe) -> dict[str, Recipe]:
    """The recipes that every function of two floats has in addition, by name.

    Args:
      left_out: name of a recipe → the regions that other recipes leave out and that this recipe brings back.
      extra: recipes in which inputs of these regions are searched, besides those of all functions.
    """
    pool = (crossed, exponents, tiny, many(plain), *extra)
    back = {name: brought_back(pool, regions, PAIRS) for name, regions in left_out.items() if regions}
    return {"tiny": tiny, "exponents": exponents, **back, "upstreams": special_pairs}
