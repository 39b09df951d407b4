"""Rows: recipes of one matrix whose rows are edges of a reduction."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe

#: The shape of the matrix; a row has more elements than a small vector register, and a tail.
SHAPE = (4, 11)


def plain(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Values of moderate size."""
    return (draw.values(dtype, *SHAPE),)


def offset(by: float) -> Recipe:
    """A recipe: values next to a number, whose naive sum of squares or of exponentials is far from the result."""
    return lambda draw, dtype: ((by + draw.uniform(*SHAPE) * 4).astype(dtype),)


def scaled(exponent: float) -> Recipe:
    """A recipe: values near a power of two, whose exponent is a fraction of the dtype's largest exponent."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        power = 2.0 ** int(exponent * ml_dtypes.finfo(dtype).maxexp)
        return ((draw.uniform(*SHAPE, low=1, high=2) * np.where(draw.booleans(*SHAPE), power, -power)).astype(dtype),)

    return recipe


def squared(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Values of moderate size, and one in each row whose square alone leaves the dtype."""
    x = draw.values(np.dtype(np.float64), *SHAPE)
    x[:, 3] = np.array([1.25, 1.5, 1.75, 2.0]) * np.sqrt(float(ml_dtypes.finfo(dtype).max))
    return (x.astype(dtype),)


def rows(*values: Sequence[float]) -> Recipe:
    """A recipe: each row repeats its values."""
    assert len(values) == SHAPE[0]
    return lambda draw, dtype: (np.stack([np.resize(np.array(v), SHAPE[1]) for v in values]).astype(dtype),)
