"""Error points: the error of each element of a result, for plots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: The largest number of elements in a plot; of more elements, it shows evenly spaced ones and the largest error.
MOST = 400


def points(
    x: np.ndarray, got: np.ndarray | None, want: Want | None, marks: Mapping[str, int] | None = None
) -> tuple[list[list[float]], dict[str, list[float]]]:
    """Inputs and errors of the finite elements, as two lists of equal length, and those of the marked elements.

    Errors are in ULPs of the result's dtype, positive if `got` is larger than the promise; see `distances`. The lists
    are empty unless results are real floats of the input's shape. All numbers are finite. `marks` names elements by
    their places in the flat order; the plot always has them, and the second value has their inputs and errors.
    """
    if got is None or want is None or want.value is None or want.dtype is None or not is_float(want.dtype):
        return [], {}
    if not (x.shape == got.shape == want.value.shape) or got.dtype != want.dtype:
        return [], {}
    if not (is_float(x.dtype) or x.dtype.kind in "biu"):
        return [], {}
    with np.errstate(all="ignore"):
        exact, came = want.value.astype(np.float64).ravel(), got.astype(np.float64).ravel()
        inputs = x.astype(np.float64).ravel()
    finite = np.isfinite(exact) & np.isfinite(came) & np.isfinite(inputs)
    inputs, errors = inputs[finite], distances(came[finite], exact[finite], want.dtype)
    if not inputs.size:
        return [], {}
    named = {name: int(finite[:place].sum()) for name, place in (marks or {}).items() if finite[place]}
    evenly = np.linspace(0, inputs.size - 1, MOST).astype(int)
    shown = np.unique([*evenly, np.argmax(np.abs(errors)), *named.values()])
    plotted = [[float(f"{v:.6g}") for v in values[shown]] for values in (inputs, errors)]
    places = {name: int(np.searchsorted(shown, place)) for name, place in named.items()}
    return plotted, {name: [values[place] for values in plotted] for name, place in places.items()}


def distances(got: np.ndarray, want: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The signed error of each (finite, float64) number in ULPs of `dtype` at the promised number.

    That quotient means little if 0 is promised, whose unit is the smallest subnormal number, and may overflow near a
    tiny number. In these cases the result counts the representable numbers in between, as `assert_array_max_ulp` in
    `numpy.testing` does: at most 2^64.
    """
    with np.errstate(all="ignore"):
        ulps = (got - want) / ulp_of(want, dtype)
    steps = _rank(got, dtype) - _rank(want, dtype)
    return np.where((want == 0) | ~np.isfinite(ulps), steps, ulps)


def _rank(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The count of representable numbers between 0 and each number, negative below 0; in float64."""
    with np.errstate(all="ignore"):
        magnitude = np.abs(value).astype(dtype)
    return np.copysign(magnitude.view(f"u{dtype.itemsize}").astype(np.float64), value)
