"""The volumes and their gradients in NumPy."""

import numpy as np


def _sides(prod, box):
    return prod[:, None, :] - box[None, :, :]


def volumes(prod, box):
    """The volume between each corner of `prod` and each of `box`."""
    return np.prod(np.abs(_sides(prod, box)), -1)


def _by_side(g, prod, box):
    """The gradient by each side: the upstream times the other two, with the side's sign."""
    sides = _sides(prod, box)
    others = np.stack([np.prod(np.abs(np.delete(sides, k, -1)), -1) for k in range(3)], -1)
    return g[:, :, None] * np.sign(sides) * others


def to_corners(g, prod, box):
    """The VJP of `volumes`."""
    terms = _by_side(g, prod, box)
    return terms.sum(1), -terms.sum(0)


#: The sides are exact. Two roundings in a product of three; in a gradient, three in each term, one less than terms in
#: their sum, and one more for what TensorFlow may put in between.
VOLUME = {"output": lambda u, g, prod, box: 2 * u * volumes(prod, box)}
CORNERS = {
    "grad[0]": lambda u, g, prod, box: 6 * u * np.abs(_by_side(g, prod, box)).sum(1),
    "grad[1]": lambda u, g, prod, box: 7 * u * np.abs(_by_side(g, prod, box)).sum(0),
}
