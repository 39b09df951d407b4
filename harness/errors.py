"""Errors: how far each element of what came is from what was promised, for plots."""

from __future__ import annotations

import numpy as np

from harness.compare import ulp_of
from harness.expect import Want
from harness.inputs import is_float

#: Elements that a plot is made of at most; of more, evenly spaced ones are taken, and the farthest.
MOST = 400


def points(x: np.ndarray, got: np.ndarray | None, want: Want | None) -> list[list[float]]:
    """Inputs and errors, in ULPs of the result's dtype, of the elements that are finite: two lists of equal length.

    Empty where results are no real floats of the input's shape. ULPs have a sign: positive where `got` is the larger.
    """
    if got is None or want is None or want.value is None or want.dtype is None or not is_float(want.dtype):
        return []
    if not (x.shape == got.shape == want.value.shape) or got.dtype != want.dtype or x.dtype.kind == "c":
        return []
    with np.errstate(all="ignore"):
        exact, came = want.value.astype(np.float64).ravel(), got.astype(np.float64).ravel()
        given = x.astype(np.float64).ravel()
        finite = np.isfinite(exact) & np.isfinite(came) & np.isfinite(given)
        ulps = (came - exact)[finite] / ulp_of(exact[finite], want.dtype)
    given = given[finite]
    if not given.size:
        return []
    kept = np.unique(np.append(np.linspace(0, given.size - 1, MOST).astype(int), np.argmax(np.abs(ulps))))
    return [[float(f"{v:.6g}") for v in values[kept]] for values in (given, ulps)]
