"""Edge: the elements of a result at the edge of the normal numbers, where devices flush numbers to 0.

Flushing changes such an element by its whole size. That is a property of a device's arithmetic, so these elements do
not decide how severe a difference is: see `harness.judge.verdicts.severity`.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import is_float

#: The numbers up to so many ULPs above the smallest normal number are at the edge: rounding may bring them below it.
FEW = 4


def at_edge(got: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """Whether an input of each element, or its result, is subnormal or next to the smallest normal number.

    The result is there if the observed and the promised number both are; one of the two may be 0.

    Args:
      got: the result, real floats.
      want: the promise in the result's dtype, of its shape.
      inputs: the inputs of the op. Those of the result's shape or of one element count, others do not.

    Returns:
      A bool array of the result's shape.
    """
    edge = _tiny(got) & _tiny(want)
    for x in inputs:
        if x.shape == got.shape or x.size == 1:
            edge = edge | _edge_number(x if x.shape == got.shape else x.reshape(()))
    return np.asarray(edge)


def _edge_number(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        return _edge_number(x.real) | _edge_number(x.imag)
    return _tiny(x) & (x != 0) if is_float(x.dtype) else np.zeros(x.shape, bool)


def _tiny(x: np.ndarray) -> np.ndarray:
    """Whether each float is at most `FEW` ULPs larger than the smallest normal number of its dtype, or is 0."""
    info = ml_dtypes.finfo(x.dtype)
    return np.abs(x.astype(np.float64)) <= float(info.smallest_normal) * (1 + FEW * float(info.eps))
