"""The points at which floor is tested."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE


def quarters(draw, dtype):
    """Quarters, some of them whole: to take the fraction off and to put it back is exact."""
    return ((draw.integers(SIZE, low=-16, high=17) / 4).astype(dtype),)


def points(draw, dtype):
    """Integers, numbers between them, and integers so large that a little more or less is lost."""
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75, 2**17, 3 * 2**18], dtype),)


def small_points(draw, dtype):
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75], dtype),)
