"""Alternatives: several promises of one quantity; each element of a result has to keep one of them."""

from __future__ import annotations

import numpy as np

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
    ulps, limit = limits(want)
    bound = None if limit is None else np.broadcast_to(limit, value.shape)
    result = positive_zeros(got) if want.unsigned_zeros else got
    wrong = breaks(result, value, want.dtype, ulps, bound)
    for other in want.alternatives:
        if not wrong.any():
            break
        kept = wrong & ~breaks(result, other, want.dtype, ulps, bound)
        value, wrong = np.where(kept, other, value), wrong & ~kept
    return value


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
