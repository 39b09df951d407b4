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


def unused(prod, box):
    """The part of each box that each product leaves empty: one box at a time, one product at a time."""
    part = np.empty((prod.shape[1], box.shape[1]))
    for i, sides in enumerate(prod.T):
        for j, inside in enumerate(box.T):
            volume = np.prod(inside)
            part[i, j] = (volume - np.prod(sides)) / volume
    return part


def _others(sides):
    """For each side, the product of the other sides in its column."""
    return np.stack([np.prod(np.delete(sides, k, 0), 0) for k in range(len(sides))])


def _by_volumes(g, prod, box):
    """The terms of the gradient by the volumes of the products, and by those of the boxes; shapes as `g`."""
    contents, volumes = np.prod(prod, 0)[:, None], np.prod(box, 0)
    return -g / volumes, g * contents / volumes**2


def unused_gradient(g, prod, box):
    """The VJP of `unused`."""
    by_content, by_volume = _by_volumes(g, prod, box)
    return by_content.sum(1) * _others(prod), by_volume.sum(0) * _others(box)


def _by_content_bound(u, g, prod, box):
    """The volumes are exact; one rounding in a sum of two, one in each product and quotient."""
    by_content, _ = _by_volumes(np.abs(g), prod, box)
    return 6 * u * np.abs(by_content).sum(1) * _others(prod)


def _by_volume_bound(u, g, prod, box):
    """TensorFlow adds the gradients of the numerator, 1/volume, and of the denominator, which is of either sign."""
    contents, volumes = np.prod(prod, 0)[:, None], np.prod(box, 0)
    terms = np.abs(g) / volumes + np.abs(g * (volumes - contents)) / volumes**2
    return 8 * u * terms.sum(0) * _others(box)


UNUSED = {"grad[0]": _by_content_bound, "grad[1]": _by_volume_bound}
