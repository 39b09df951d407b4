"""Error plot: the inputs and errors of all elements of a finding's case."""

from __future__ import annotations

import math

import numpy as np

from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.differences.error_points import points
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.repro.discrepancy import Discrepancy, promise_of
from tf_opdiff.harness.store.records.element_index import parse_index
from tf_opdiff.harness.store.records.record import Record

#: Inputs and errors of a plot, and those of its marked elements; see `harness.judge.differences.error_points.points`.
Plot = tuple[list[list[float]], dict[str, list[float]]]


def plot_of(discrepancy: Discrepancy, record: Record, got: np.ndarray | None) -> Plot:
    """The plot of a record, with its simplest and its worst element marked; `got` is the observed array, if any."""
    if got is None or not discrepancy.inputs or discrepancy.kind in SELF_CHECKS:
        return [], {}
    marks = {"simplest": record.example_index, "worst": record.worst_index}
    flat = {name: place for name, at in marks.items() if (place := _place(at, got.shape)) is not None}
    try:
        return points(discrepancy.inputs[0], got, promise_of(discrepancy).wants.get(discrepancy.quantity), flat)
    except ReferenceFault:
        return [], {}


def _place(index: str, shape: tuple[int, ...]) -> int | None:
    """The place of an index in the flat order of an array of this shape; None if the index is outside."""
    at = parse_index(index)
    if at is None:
        return None
    inside = len(at) == len(shape) and all(0 <= i < n for i, n in zip(at, shape, strict=True))
    return int(np.arange(math.prod(shape)).reshape(shape)[at]) if inside else None
