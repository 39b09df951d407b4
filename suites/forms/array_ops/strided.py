"""Strided: slices of tensors with begins, ends, strides and masks, and those that every op of slices refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Calls, Shape, call
from tf_opdiff.suites.reference.arrays import slices as ref

#: The arguments `begin`, `end`, `strides` and the masks of a slice.
Bounds = Mapping[str, Any]


def bounds(begin: Any, end: Any, strides: Any, **masks: int) -> Bounds:
    """The arguments of a slice."""
    return {"begin": begin, "end": end, "strides": strides, **masks}


#: Label → the shape of a tensor, and a slice of it.
SLICES: Mapping[str, tuple[Shape, Bounds]] = {
    "matrix": ((3, 5), bounds([0, 1], [2, 4], [1, 1])),
    "steps": ((5, 7), bounds([1, 0], [5, 7], [2, 3])),
    "backwards": ((5, 3), bounds([-1, 2], [0, 0], [-2, -1])),
    "masks": ((3, 5), bounds([1, 2], [2, 3], [1, -2], begin_mask=3, end_mask=2)),
    "shrunk": ((3, 5, 2), bounds([1, 0, -1], [2, 5, 0], [1, 2, 1], shrink_axis_mask=5)),
    "new_axis": ((3, 5), bounds([0, 1, 0], [0, 3, 5], [1, 1, 2], new_axis_mask=1)),
    "ellipsis": ((2, 3, 1, 5), bounds([1, 0, 1], [2, 0, 4], [1, 1, 2], ellipsis_mask=2)),
    "unit_backwards": ((5, 3), bounds([-1, 1], [0, -9], [-1, -1])),
    "unit_masks": ((3, 5), bounds([1, 2], [2, 3], [1, -1], begin_mask=3, end_mask=2)),
    "unit_shrunk": ((3, 5, 2), bounds([1, 0, -1], [2, 5, 0], [1, 1, 1], shrink_axis_mask=5)),
    "unit_ellipsis": ((2, 3, 1, 5), bounds([0, 1, 0, 1], [0, 2, 0, 4], [1, 1, 1, 1], new_axis_mask=1, ellipsis_mask=4)),
    "scalar": ((), bounds([], [], [])),
    "element": ((7,), bounds([3], [4], [1], shrink_axis_mask=1)),
    "beyond_ends": ((3, 5), bounds([-9, 2], [9, 100], [1, 1])),
    "empty": ((0, 3), bounds([0, 1], [0, 3], [1, 1])),
    "to_nothing": ((3, 5), bounds([2, 0], [1, 5], [1, 1])),
    "single": ((1,), bounds([0], [1], [1])),
    "batch_of_one": ((1, 4), bounds([0, 0], [1, 4], [1, 3])),
    "fewer": ((3, 2, 2), bounds([1], [3], [1])),
    "rank7": (
        (1, 2, 1, 2, 1, 3, 2),
        bounds([0, 1, 0, 0, 0, 2, 0], [1, 2, 1, 2, 1, 0, 2], [1, 1, 1, 1, 1, -1, 1], end_mask=32),
    ),
}
#: Label → a slice of a tensor of shape (3, 5) that every op refuses.
REFUSED: Mapping[str, Bounds] = {
    "no_step": bounds([0, 0], [3, 5], [0, 1]),
    "too_many": bounds([0, 0, 0], [3, 5, 1], [1, 1, 1]),
    "unlike": bounds([0, 0], [3], [1, 1]),
    "matrices": bounds([[0, 0]], [[3, 5]], [[1, 1]]),
    "two_ellipses": bounds([0, 0], [3, 5], [1, 1], ellipsis_mask=3),
    "out_of_range": bounds([3, 0], [4, 5], [1, 1], shrink_axis_mask=1),
    "too_negative": bounds([-4, 0], [4, 5], [1, 1], shrink_axis_mask=1),
    "backwards_shrunk": bounds([0, 0], [1, 5], [-1, 1], shrink_axis_mask=1),
}


def everything(rank: int) -> Bounds:
    """The slice that is the whole tensor of a rank."""
    return bounds([0] * rank, [0] * rank, [1] * rank, begin_mask=2**rank - 1, end_mask=2**rank - 1)


def _part(shape: Shape, where: Bounds) -> Shape:
    """The shape of a slice."""
    return ref.strided(np.zeros(shape), **where).shape


#: Calls of ops of a tensor and of the values of a slice of it; and of those of the values, and of the tensor's shape.
UPDATES: Calls = {label: call(shape, _part(shape, b), **b) for label, (shape, b) in SLICES.items()}
GRADIENTS: Calls = {label: call(_part(shape, b), shape=list(shape), **b) for label, (shape, b) in SLICES.items()}
