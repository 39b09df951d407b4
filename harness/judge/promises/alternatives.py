"""Alternatives: several promises of one quantity, of single elements or of the whole result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences.difference import differences, ulp_of
from tf_opdiff.harness.judge.promises.want import Want, positive_zeros
from tf_opdiff.harness.spec.inputs.recipes import is_float


def nearest(got: np.ndarray, want: Want) -> np.ndarray:
    """The promised values, with an alternative in place of each value that the result breaks and the alternative keeps.

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
    dtype, (ulps, limit) = want.dtype, limits(want)
    bound = None if limit is None else np.broadcast_to(limit, value.shape)
    result = positive_zeros(got) if want.unsigned_zeros else got
    broken: dict[int, np.ndarray] = {}

    def breaking(other: np.ndarray) -> np.ndarray:
        """Computed once for each array of the promise: each whole alternative meets those of single elements."""
        if id(other) not in broken:
            broken[id(other)] = breaks(result, other, dtype, ulps, bound)
        return broken[id(other)]

    return _chosen(want, breaking)


def _chosen(want: Want, breaking: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The right values that a result comes nearest to.

    The result keeps the promise, or one whole alternative, at all elements, except where an alternative of single
    elements differs from the promise and the result keeps that.

    Args:
      want: the promise, with a value.
      breaking: breaking(values) → the elements at which the result breaks these values.
    """
    assert want.value is not None
    rounded = want.value.astype(want.dtype)
    apart = [(other, differing(other.astype(want.dtype), rounded)) for other in want.apart]
    best: tuple[np.ndarray, np.ndarray] | None = None
    for first, *others in ((want.value,), *want.wholes):
        value, wrong = first, breaking(first)
        for other, open_at in (*((other, True) for other in others), *apart):
            if not wrong.any():
                break
            kept = wrong & open_at & ~breaking(other)
            value, wrong = np.where(kept, other, value), wrong & ~kept
        if best is None or wrong.sum() < best[1].sum():
            best = value, wrong
        if not wrong.any():
            break
    assert best is not None
    value, wrong = best
    if not wrong.any():
        return value
    wrong_at_all = wrong & breaking(want.value)
    for other in want.alternatives:
        wrong_at_all &= breaking(other)
    return np.where(wrong_at_all, want.value, value)


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
