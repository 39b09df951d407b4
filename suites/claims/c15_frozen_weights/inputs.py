"""The schedule of masks, and least-squares problems: what each training starts from."""

import numpy as np

#: Masks: a row a step, a column a weight.
SCHEDULE = np.array(
    [
        [1, 1, 0, 0, 0, 1, 1, 1, 1],
        [1, 1, 0, 0, 0, 1, 1, 1, 1],
        [1, 1, 0, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 1, 1],
        [1, 1, 0, 1, 1, 0, 0, 1, 1],
    ]
)


def _problem(draw, dtype, others):
    """Weights, masks, and a least-squares problem with a sample for each weight; `others` is how much of the rest is
    in it. Nothing comes near its target in a few steps, where a gradient that fades would be mostly rounding.
    """
    x = np.diag(draw.uniform(9, low=1, high=2)) + others * draw.uniform(9, 9)
    y = draw.uniform(9, low=3, high=5) * np.where(draw.booleans(9), 1, -1)
    return tuple(a.astype(dtype) for a in (draw.uniform(9), SCHEDULE, x, y))


def together(draw, dtype):
    """A recipe: each weight matters to the gradients of all."""
    return _problem(draw, dtype, 0.25)


def apart(draw, dtype):
    """A recipe: no weight matters to the gradient of another."""
    return _problem(draw, dtype, 0)


def in_two(recipe):
    """The recipe, with the weights in two parts and no mask."""

    def parts(draw, dtype):
        weights, _, x, y = recipe(draw, dtype)
        return weights[:4], weights[4:], x, y

    return parts


#: A mask that stays.
FIXED = np.array([[0, 1, 1, 0, 1, 0, 1, 0, 1]] * 4)


def fixed(draw, dtype):
    """A recipe: each weight matters to the gradients of all, and the mask of every step is the same."""
    weights, _, x, y = together(draw, dtype)
    return weights, FIXED.astype(dtype), x, y


def fixed_from_zeros(draw, dtype):
    """The same from weights of zeros."""
    weights, *others = fixed(draw, dtype)
    return np.zeros_like(weights), *others


def target(draw, dtype):
    """A recipe: a target for four weights, far from zeros."""
    return ((draw.uniform(4, low=1, high=2) * np.where(draw.booleans(4), 1, -1)).astype(dtype),)
