"""Alternatives: several promises of one quantity, of single elements or of the whole result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences.difference import differences, ulp_of
from tf_opdiff.harness.judge.promises.want import Want, positive_zeros
from tf_opdiff.harness.spec.inputs.recipes import is_float


def nearest(got: np.ndarray, want: Want) -> np.ndarray:
    """The promised values, with an alternative in place of each value that the result breaks and the alternative keeps.

    The result keeps the promise, or one whole alternative, at all elements, except where an alternative of single
    elements differs from the promise and the result keeps that.

    Args:
      got: the result. If its shape or dtype is not the promised one, no alternative counts.
      want: the promise, with a value.

    Returns:
      An array of the promise's shape.
    """
    value = want.value
    assert value is not None and want.dtype is not None
    if not want.alternatives or got.shape != value.shape or got.dtype != want.dtype:
        return value
    of_all = np.result_type(value, *want.alternatives)
    test = _Test(positive_zeros(got) if want.unsigned_zeros else got, value.ravel().astype(of_all), want)
    apart = _Apart(test, value.ravel().astype(want.dtype), [other.ravel() for other in want.apart])
    best: tuple[np.ndarray, np.ndarray] | None = None
    for whole in ((value,), *want.wholes):
        chosen, wrong = test.replaced(*(values.ravel().astype(of_all) for values in whole))
        chosen, wrong = apart.replaced(chosen, wrong)
        if best is None or wrong.size < best[1].size:
            best = chosen, wrong
        if not wrong.size:
            break
    assert best is not None
    chosen, wrong = best
    if wrong.size:
        every = np.stack([other.ravel()[wrong] for other in (value, *want.alternatives)])
        wrong_at_all = wrong[test.breaks(every, wrong).all(axis=0)]
        chosen[wrong_at_all] = value.ravel()[wrong_at_all]
    return chosen.reshape(value.shape)


#: The most elements that are compared at once.
_AT_ONCE = 1 << 16


class _Test:
    """Whether elements of a result break values. All arrays are flat: those of a result have its number of elements."""

    def __init__(self, result: np.ndarray, promise: np.ndarray, want: Want) -> None:
        """`promise` is the value of `want`, whose limits count: see `limits`."""
        ulps, bound = limits(want)
        self._result, self._promise = result.ravel(), promise
        self._ulps = np.broadcast_to(ulps, result.shape).ravel()
        self._bound = None if bound is None else np.broadcast_to(bound, result.shape).ravel()
        self._broken = self.breaks(promise[None], np.arange(promise.size))[0]

    def breaks(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Whether the elements `at` these places break values of shape (n, places); a bool array of that shape."""
        rows = max(1, _AT_ONCE // max(1, at.size))
        got, ulps, bound = self._result[at], self._ulps[at], None if self._bound is None else self._bound[at]
        parts = [values[first : first + rows] for first in range(0, len(values), rows)]
        compared = [breaks(np.broadcast_to(got, part.shape), part, got.dtype, ulps, bound) for part in parts]
        return np.concatenate(compared) if compared else np.zeros((0, at.size), bool)

    def replaced(self, values: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values, with those of others in place of each that the result breaks; the places of those that remain."""
        chosen, broken = values.copy(), self._broken.copy()
        other_than_promised = np.flatnonzero(differing(values, self._promise))
        broken[other_than_promised] = self.breaks(values[None, other_than_promised], other_than_promised)[0]
        wrong = np.flatnonzero(broken)
        for other in others:
            is_broken = self.breaks(other[None, wrong], wrong)[0]
            kept, wrong = wrong[~is_broken], wrong[is_broken]
            chosen[kept] = other[kept]
        return chosen, wrong


class _Apart:
    """The alternatives of single elements; which of them an element keeps is the same for each whole alternative.

    An alternative counts where it differs from the promise, rounded to its dtype.
    """

    def __init__(self, test: _Test, rounded: np.ndarray, others: Sequence[np.ndarray]) -> None:
        self._test, self._others = test, others
        self._open = [differing(other.astype(rounded.dtype), rounded) for other in others]
        self._tried, self._kept = np.zeros(rounded.shape, bool), np.zeros(rounded.shape, int)

    def replaced(self, values: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values, with the first alternative that the result keeps at these places; the places where there is none."""
        self._try(wrong[~self._tried[wrong]])
        kept = self._kept[wrong]
        for number in np.unique(kept[kept > 0]):
            at = wrong[kept == number]
            values[at] = self._others[number - 1][at]
        return values, wrong[kept == 0]

    def _try(self, at: np.ndarray) -> None:
        """Notes which alternative these elements keep: its number from 1, or 0."""
        self._tried[at] = True
        if at.size and self._others:
            values, is_open = (np.stack([array[at] for array in arrays]) for arrays in (self._others, self._open))
            kept = is_open & ~self._test.breaks(values, at)
            self._kept[at] = np.where(kept.any(axis=0), kept.argmax(axis=0) + 1, 0)


def limits(want: Want) -> tuple[float | np.ndarray, np.ndarray | None]:
    """The budget in ULPs and the bound of a promise, neither above its ceiling if it has one."""
    if want.ceiling is None:
        return want.budget, want.bound
    assert want.value is not None and want.dtype is not None
    rounded = want.value.astype(want.dtype).astype(np.float64)
    return want.limits(ulp_of(np.where(np.isfinite(rounded), rounded, 0.0), want.dtype))


def breaks(
    got: np.ndarray,
    want: np.ndarray,
    dtype: np.dtype,
    budget: float | np.ndarray = 0.0,
    bound: np.ndarray | None = None,
) -> np.ndarray:
    """The elements of a result that are further from the promise than allowed; a bool array of its shape."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return breaks(got.real, want.real, part, budget, bound) | breaks(got.imag, want.imag, part, budget, bound)
    if not is_float(dtype):
        return np.asarray(got != want)
    return differences(got, want, dtype, budget=budget, bound=bound).wrong
