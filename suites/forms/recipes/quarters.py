"""Recipes of quarters: their sums and small multiples are exact in every dtype."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE


def quarters(draw, dtype, *shape):
    """An array of quarters of small size and either sign; their sums and small multiples are exact in every dtype."""
    dtype = np.dtype(dtype)
    values = (draw.integers(*shape, low=-16, high=16) + 0.5) / 2
    return ((values + 1j * np.flip(values)) if dtype.kind == "c" else values).astype(dtype)


VECTOR = {"vector": lambda draw, dtype: (quarters(draw, dtype, SIZE),)}
PAIR = {"matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5), quarters(draw, dtype, 3, 5))}
SHAPES = {
    "scalar": lambda draw, dtype: (quarters(draw, dtype),),
    "matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5),),
    "empty": lambda draw, dtype: (quarters(draw, dtype, 0, 3),),
}
WITH_INTEGERS = {
    "matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5), draw.integers(3, 5, low=-9, high=10)),
}
MATRIX = {"matrix": SHAPES["matrix"]}
