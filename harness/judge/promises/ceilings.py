"""Ceilings: the measured ceilings of a promise, for each of its elements."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode

#: The device on which ceilings are measured, without variants.
MEASURED = "cpu"


def with_ceiling(case: Case, quantity: str, want: Want, inputs: tuple[np.ndarray, ...]) -> Want:
    """The promise with its ceilings by family of modes; unchanged if the spec has none for the quantity.

    Without a ceiling are results that are subnormal or zero, and elements with several right values: there, an error
    in ULPs depends on the upstream gradient, and on what is flushed.
    """
    if want.value is None or want.dtype is None or len(inputs) != 1 or inputs[0].shape != want.value.shape:
        return want
    spec, (x,) = case.spec, inputs
    each = [spec.tolerance.ceiling_of(quantity, case.dtype, family) for family in MODE_FAMILIES]
    if not any(each):
        return want
    normal = np.abs(want.value) >= float(ml_dtypes.finfo(want.dtype).smallest_normal)
    clear = normal & ~want.ambiguous
    eager, xla = (None if ceiling is None else np.where(clear, ceiling(x), np.inf) for ceiling in each)
    return replace(want, ceilings=ByMode(eager=eager, xla=xla))
