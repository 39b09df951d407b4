"""Sweepable: whether a spec can be swept: one input, elementwise, in a dtype of sweeps."""

from __future__ import annotations

import numpy as np

from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.spec import Case, Raises, Spec
from tf_opdiff.harness.sweep.measurements.pieces import DTYPES


def refusal(spec: Spec, dtype: str) -> str:
    """The reason why a spec can't be swept in a dtype; empty if it can."""
    if dtype not in spec.dtypes or dtype not in DTYPES:
        return f"{spec.name} promises nothing for {dtype} that a sweep could try; sweeps take {', '.join(DTYPES)}"
    if not spec.sweepable:
        return f"{spec.name} does not have one input or does not say `every_input`: it is not about every input"
    samples = (Case(spec, dtype, next(iter(spec.recipes)), label) for label in spec.labels)
    return next(filter(None, map(elementwise_fault, samples)), "")


def elementwise_fault(case: Case, *, floats_only: bool = False) -> str:
    """The reason why a case's inputs show that its spec is not unary and elementwise; empty if they do not.

    With `floats_only`, several inputs are right too, if all inputs and the result are floats of the case's dtype.
    """
    spec, inputs = case.spec, case.inputs()
    unary = "" if floats_only else "unary and "
    for side in (None, *spec.contract.values()):
        wants = expectation(case, inputs, side).wants
        want = wants["output[0]"]
        reverse = expectation(case, tuple(x[::-1] for x in inputs), side).wants["output[0]"]
        if isinstance(want.raises, Raises):
            continue
        if (unary and len(inputs) != 1) or "output[1]" in wants or want.value is None:
            return f"{spec.name} is not {unary}elementwise"
        if {want.value.shape} != {x.shape for x in inputs}:
            return f"{spec.name} is not {unary}elementwise"
        if floats_only and {want.dtype} != {np.dtype(case.dtype)} | {x.dtype for x in inputs}:
            return f"{spec.name} has inputs or results that are no floats of its dtype"
        assert reverse.value is not None
        if not np.array_equal(want.value, reverse.value[::-1], equal_nan=True):
            return f"{spec.name} is not elementwise: its reference gives other values for the inputs reversed"
    return ""
