"""Comparison sort: the order in which the kernel of TopKV2 leaves rows with NaN, which no comparison orders."""

from __future__ import annotations

from collections.abc import Callable
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


def first_by_heap(x: np.ndarray, k: int) -> np.ndarray:
    """The indices of the k largest of more than k numbers of each row, as TopKV2 finds them; int32.

    The kernel keeps the largest numbers in a heap: tensorflow/core/lib/gtl/top_n.h. It compares equal numbers, and a
    number with a NaN, by their indices.
    """
    return np.array([_first(row.tolist(), k) for row in x], np.int32)


def _first(row: list[float], k: int) -> list[int]:
    def before(a: int, b: int) -> bool:
        return row[a] > row[b] or (not row[a] < row[b] and a < b)

    heap = [*range(k + 1)]
    for at in reversed(range((k + 1) // 2)):
        _sink(heap, at, heap[at], k + 1, before)
    _pop(heap, k + 1, before)
    for i in range(k + 1, len(row)):
        if before(i, heap[0]):
            _pop(heap, k, before)
            _rise(heap, k - 1, 0, i, before)
    for length in range(k, 1, -1):
        _pop(heap, length, before)
    return heap[:k]


def _pop(heap: list[int], length: int, before: Callable[[int, int], bool]) -> None:
    """std::pop_heap of the C++ library of GCC: moves the front of a heap of this length to its end."""
    last, heap[length - 1] = heap[length - 1], heap[0]
    _sink(heap, 0, last, length - 1, before)


def _sink(heap: list[int], at: int, i: int, length: int, before: Callable[[int, int], bool]) -> None:
    """std::__adjust_heap, bits/stl_heap.h: a hole sinks from a place to the end of the heap; then i rises in it."""
    top = at
    while 2 * at + 2 < length:
        child = 2 * at + 2
        child -= before(heap[child], heap[child - 1])
        heap[at], at = heap[child], child
    if length % 2 == 0 and 2 * at + 2 == length:
        heap[at], at = heap[2 * at + 1], 2 * at + 1
    _rise(heap, at, top, i, before)


def _rise(heap: list[int], at: int, top: int, i: int, before: Callable[[int, int], bool]) -> None:
    """std::__push_heap: i rises from a hole, but not above `top`."""
    while at > top and before(heap[(at - 1) // 2], i):
        heap[at], at = heap[(at - 1) // 2], (at - 1) // 2
    heap[at] = i
