"""Simplest: the simplest of several numbers, or tuples of numbers, to show to people.

The order, simplest first:

1. whole numbers up to 1,000;
2. halves up to 1,000;
3. other numbers up to 1,000 with one decimal place, then with two, then with three;
4. other normal numbers, 5. huge ones: from the square root of the dtype's largest number on;
6. infinities, 7. subnormal numbers, which many devices flush, 8. NaN.

Within the first three, the smaller size comes first; within the next three, the number with fewer binary digits between
the point and its last digit that is not 0. Of x and -x, the positive one comes first, and 0 before -0. A tuple belongs
where its least simple part does; there, the sum of sizes (or of digits) counts, then each part in turn. A complex
number is a tuple of two. Texts count by their length.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import is_float

#: Numbers up to here count by their size.
SMALL = 1000.0
PLACES = (1, 2, 3)
_COUNTED = 2 + len(PLACES)


@np.errstate(all="ignore")
def first(columns: Sequence[np.ndarray]) -> int:
    """The place of the simplest of n ≥ 1 tuples; their parts are the `columns`, each of shape (n,)."""
    parts = [part for column in columns for part in _parts(column)]
    left, group = np.zeros(0, np.intp), np.zeros(1)
    for masks in zip(*map(_groups, parts), strict=True):  # few numbers take more than the first of them
        left = np.flatnonzero(np.logical_and.reduce(masks))
        if left.size:
            break
        group += 1
    at = np.arange(left.size)
    for cost in _costs([part[left].astype(np.float64) for part in parts], group):
        at = at[cost[at] == cost[at].min()]
    return int(left[at[0]])


@np.errstate(all="ignore")
def keys(columns: Sequence[np.ndarray]) -> list[list[float]]:
    """The sort keys of n tuples; their parts are the `columns`, each of shape (n,)."""
    parts = [part for column in columns for part in _parts(column)]
    group = np.zeros(parts[0].shape)
    for masks in zip(*map(_groups, parts), strict=True):
        group += ~np.logical_and.reduce(masks)
    return np.stack([group, *_costs([part.astype(np.float64) for part in parts], group)], axis=1).tolist()


def _costs(parts: Sequence[np.ndarray], group: np.ndarray) -> list[np.ndarray]:
    """The sort keys of tuples in these groups, the most significant number first; `parts` are float64."""
    counted = group < _COUNTED
    sizes = [np.abs(x) if counted.all() else np.where(counted, np.abs(x), _digits(x)) for x in parts]
    return [np.sum(sizes, axis=0), *sizes, *(np.signbit(x) & ~np.isnan(x) for x in parts)]


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
    yield simple | (normal & ~np.isinf(wide))
    yield simple | normal
    yield ~np.isnan(wide)
    yield np.ones(x.shape, bool)


def _digits(x: np.ndarray) -> np.ndarray:
    """The binary digits of each number between the point and its last 1; 0 if it is not finite."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 0, 53 - zeros + np.abs(exponent)).astype(np.float64)


_TOLD = re.compile(r"input (.*?)(?:, got |$)")
#: An input of which an example shows the dtype and the shape alone: `float32[3, 5]`.
_ARRAY = re.compile(r"\w\[")


#: Columns that decide between records with equally simple examples, after float32 has come first.
TIES = ("case", "device", "mode", "quantity")


def of_texts(examples: Iterable[str]) -> dict[str, tuple[bool, list[float]]]:
    """The sort keys of examples in records, `input -0.5, got -0.0, want -1.0`.

    Examples without a number come last, and so do those with an array, of which they show only the shape. Texts have no
    dtype: a number below the normal float32 numbers counts as subnormal.
    """
    found: dict[str, tuple[bool, list[float]]] = {}
    by_length: dict[int, dict[str, list[complex]]] = {}
    for example in set(examples):
        numbers = _numbers(example)
        found[example] = True, []
        by_length.setdefault(len(numbers), {})[example] = numbers
    for length, some in by_length.items():
        if length:
            columns = np.array(list(some.values())).T
            parts = [_tiny_as_subnormal(part) for column in columns for part in (column.real, column.imag)]
            found |= {example: (False, key) for example, key in zip(some, keys(parts), strict=True)}
    return found


def _tiny_as_subnormal(x: np.ndarray) -> np.ndarray:
    tiny = (x != 0) & (np.abs(x) < float(np.finfo(np.float32).smallest_normal))
    return np.where(tiny, np.copysign(np.finfo(np.float64).smallest_subnormal, x), x)


def _numbers(example: str) -> list[complex]:
    match, numbers = _TOLD.match(example), []
    if match is None or _ARRAY.search(match[1]):
        return []
    for word in match[1].split(", "):
        with contextlib.suppress(ValueError):  # a text, say
            numbers.append(complex(word.partition(" ")[0]))
    return numbers
