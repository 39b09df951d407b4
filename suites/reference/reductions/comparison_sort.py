"""Comparison sort: the order in which the kernel of TopKV2 leaves rows with NaN, which no comparison orders."""

from __future__ import annotations

from itertools import groupby

import numpy as np

#: std::sort of the C++ library of GCC sorts this many numbers by insertion, bits/stl_algo.h: _S_threshold.
_LONGEST = 16


def by_comparison(x: np.ndarray) -> np.ndarray:
    """The indices of each row of at most 16 numbers, the largest number first, as TopKV2 finds them; int32.

    The kernel sorts by `>`, and puts equal neighbours in the order of their indices:
    tensorflow/core/kernels/topk_op.cc. Each comparison with a NaN is false.
    """
    assert x.shape[-1] <= _LONGEST
    return np.array([_order(row.tolist()) for row in x], np.int32)


def largest_first(x: np.ndarray) -> np.ndarray:
    """The numbers of each row in that order."""
    return np.take_along_axis(x, by_comparison(x).astype(np.int64), axis=1)


def _order(row: list[float]) -> list[int]:
    """The indices of a row, sorted by insertion: one that is more than the first goes to the front."""
    order: list[int] = []
    for i, number in enumerate(row):
        at = len(order)
        while at and number > row[order[at - 1]]:
            at -= 1
        order.insert(0 if order and number > row[order[0]] else at, i)
    runs = [[*run] for _, run in groupby(order, key=row.__getitem__)]
    return [i for run in runs for i in sorted(run)]
