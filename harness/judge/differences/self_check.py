"""Self-check: a run compared with itself: a rerun, values in other positions, and its inputs afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import ROW_CHECKS, sizes
from tf_opdiff.harness.judge.differences.allowed_differences import free
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.trial import Trial
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import number_of

#: The detail of a row whose bits depend on its batch, within the budget.
OTHER_BITS = "a row has other bits in another batch, within the budget"


def with_itself(trial: Trial, quantity: str, promise: Want) -> Comparison | None:
    """The differences between the results of a quantity in a run and its repetitions, by kind of repetition.

    The comparison is without a difference if there is none; None if the run was not repeated, or gave no value. A rerun
    must give the same bits, unless nothing documents its result, and an input must keep its bits. Results for one value
    at two positions of a tensor, and for one row in two batches, may be as far apart as those of two plans. `promise`
    is the spec's promise for the quantity.
    """
    first, repetitions = trial.result(quantity), trial.observation.again
    if not repetitions or first.status not in ("value", "unconnected", "sparse"):
        return None
    comparison = compare(first, Want.of(first), quantity)
    each = [_repetition(trial, quantity, promise, repetition) for repetition in repetitions.items()]
    compared = [one for one in each if one is not None]
    differing = [one for one in compared if one.kind]
    # The last of equally far ones: it says more than the comparison of a result with itself.
    farthest = max(reversed([comparison, *compared]), key=lambda one: 0.0 if math.isnan(one.max_ulp) else one.max_ulp)
    comparison = Comparison.joined(differing) if differing else farthest
    undocumented = promise.undocumented and comparison.kind != "input_mutated"
    return free(comparison, promise) if undocumented else comparison


def _repetition(
    trial: Trial, quantity: str, promise: Want, repetition: tuple[str, Mapping[str, Result]]
) -> Comparison | None:
    """The comparison of a quantity with the results of one kind of repetition; None without such results."""
    (kind, others), inputs = repetition, trial.inputs
    first = trial.result(quantity)
    named = kind == "input_mutated" and quantity == next(iter(trial.observation.quantities))
    mutated = next(iter(others), "") if named else ""
    if mutated:
        before = inputs[number_of(mutated)]
        comparison = compare(others[mutated], Want("value", before, before.dtype), mutated)
        return comparison.as_kind(kind, detail=f"{mutated} changed")
    if quantity not in others:
        return None
    if kind not in ("position", *ROW_CHECKS):
        return compare(others[quantity], Want.of(first), quantity, inputs=inputs).as_kind(kind)
    want = replace(promise.from_other(first, promise), of_plan=False)
    comparison = compare(others[quantity], want, quantity, inputs=inputs)
    if kind in ROW_CHECKS:
        return _of_rows(comparison, kind, want)
    if not comparison.kind:
        return comparison
    smaller = "" if first.value is None else _smaller(comparison, first.value.shape)
    return comparison.as_kind(kind, detail=comparison.detail or smaller)


def _of_rows(comparison: Comparison, kind: str, want: Want) -> Comparison:
    """The comparison of a batch, the promise, with its rows in another batch.

    Without a difference it says how far the rows are: `max_ulp` and `budget` are those of the farthest element. Complex
    numbers, whose parts have units of their own, have no budget there.
    """
    if comparison.kind:
        return comparison.as_kind(kind)
    if comparison.distances is None or want.value is None or want.dtype is None:
        return replace(comparison, detail=OTHER_BITS)
    ulps, allowed = comparison.distances.ulps, math.nan
    at = np.unravel_index(int(np.argmax(ulps)), ulps.shape)
    if is_float(want.dtype) and ulps.size:
        value = np.asarray(want.value.astype(np.float64))
        unit = ulp_of(np.where(np.isfinite(value), value, 0.0), want.dtype)
        allowed = float(np.broadcast_to(want.allowed(unit) / unit, ulps.shape)[at])
    return replace(comparison, max_ulp=float(ulps[at]), budget=allowed, detail=OTHER_BITS)


def _smaller(comparison: Comparison, shape: tuple[int, ...]) -> str:
    """The sizes of the smaller tensors in which the example's value may have a different result.

    `shape` is the shape of the whole tensor.
    """
    if comparison.simplest is None:
        return ""
    place = int(np.ravel_multi_index(comparison.simplest.index, shape)) if shape else 0
    counts = sizes(place, math.prod(shape))
    text = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"the smaller tensor has {text} element{'' if text == '1' else 's'}"
