"""Simplest: which of several numbers, or tuples of numbers, a person grasps at a glance.

The order, simplest first:

1. whole numbers up to 1,000;
2. halves up to 1,000;
3. other numbers up to 1,000 with one decimal place, then with two, then with three;
4. other normal numbers, 5. subnormal ones, 6. huge ones: from the square root of the dtype's largest number on;
7. infinities, 8. NaN.

Within the first three, the smaller size comes first; within the next three, the number with fewer binary digits between
the point and its last digit that is not 0. Of x and -x, the positive one comes first, and 0 before -0. A tuple belongs
where its least simple part does; there, the sum of sizes (or of digits) counts, then each part in turn. A complex
number is a tuple of two. Texts count by their length.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

import ml_dtypes
import numpy as np

from harness.inputs import is_float

#: Numbers up to here count by their size.
SMALL = 1000.0
PLACES = (1, 2, 3)
_COUNTED = 2 + len(PLACES)


def first(columns: Sequence[np.ndarray]) -> int:
    """The place of the simplest of n ≥ 1 tuples, whose parts are the `columns`, each of shape (n,)."""
    return _simplest(columns)[0]


def key(columns: Sequence[np.ndarray]) -> list[float]:
    """What sorts one tuple among others: its parts are the `columns`, each of shape (1,)."""
    return _simplest(columns)[1]


@np.errstate(all="ignore")
def _simplest(columns: Sequence[np.ndarray]) -> tuple[int, list[float]]:
    parts = [part for column in columns for part in _parts(column)]
    left, best = np.zeros(0, np.intp), list[float]()
    for group, masks in enumerate(zip(*map(_groups, parts), strict=True)):
        left = np.flatnonzero(np.logical_and.reduce(masks))
        if left.size:
            best = [float(group)]
            break
    wide = [part[left].astype(np.float64) for part in parts]
    sizes = [np.abs(x) if best[0] < _COUNTED else _digits(x) for x in wide]
    at = np.arange(left.size)
    for cost in (np.sum(sizes, axis=0), *sizes, *(np.signbit(x) & ~np.isnan(x) for x in wide)):
        least = cost[at].min()
        at = at[cost[at] == least]
        best.append(float(least))
    return int(left[at[0]]), best


def _parts(column: np.ndarray) -> list[np.ndarray]:
    if column.dtype.kind == "c":
        return [column.real, column.imag]
    if column.dtype.kind in "OSU":
        return [np.array([len(str(text)) for text in column.tolist()], np.float64)]
    return [column]


def _groups(x: np.ndarray) -> Iterator[np.ndarray]:
    """For each group, which numbers belong there or in one before; the last one holds all."""
    dtype = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    exact = dtype if dtype.kind == "f" else np.dtype(np.float64)  # ml_dtypes prints such numbers in full
    wide, info = x.astype(np.float64), ml_dtypes.finfo(dtype)
    size = np.abs(wide)
    few = size <= SMALL
    simple = few & (wide == np.rint(wide))
    yield simple
    simple = simple | (few & (2 * wide == np.rint(2 * wide)))
    yield simple
    for places in PLACES:
        simple = simple | (few & (np.round(wide, places).astype(exact) == wide.astype(exact)))
        yield simple
    normal, huge = size >= float(info.smallest_normal), size >= float(info.max) ** 0.5
    yield simple | (normal & ~huge)
    yield simple | ~(huge | np.isnan(wide))
    yield ~np.isinf(wide) & ~np.isnan(wide)
    yield ~np.isnan(wide)
    yield np.ones(x.shape, bool)


def _digits(x: np.ndarray) -> np.ndarray:
    """Binary digits of each number between the point and its last 1; 0 for what is not finite."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 0, 53 - zeros + np.abs(exponent)).astype(np.float64)


_TOLD = re.compile(r"input (.*?)(?:, got |$)")


def of_text(example: str) -> tuple[bool, list[float]]:
    """What sorts examples as records tell them, `input -0.5, got -0.0, want -1.0`: those without a number last."""
    told = _TOLD.match(example)
    numbers = []
    for word in told[1].split(", ") if told else ():
        with contextlib.suppress(ValueError):  # an array's shape, say
            numbers.append(complex(word.partition(" ")[0]))
    parts = [np.array([n.real]) if not n.imag else np.array([n]) for n in numbers]
    return (False, key(parts)) if parts else (True, [])
