"""Errors: the errors of one quantity of a piece of a sweep under one plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.store.records.accuracy import Accuracy
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.sweep.measurements.promise import Difference
from tf_opdiff.harness.sweep.measurements.segments import Segments
from tf_opdiff.harness.sweep.measurements.tally import Tally


@dataclass(frozen=True)
class Errors:
    """The errors of one quantity of a piece under one plan.

    `profile` is None without distances, and in a sweep of a wide dtype; `accuracy` is None without distances.
    """

    tally: Tally
    profile: ErrorProfile | None = None
    accuracy: Accuracy | None = None


def accuracy_of(difference: Difference, segments: Segments, inputs: Bits) -> Accuracy | None:
    """The errors of some inputs by segment; None for integers and booleans.

    `difference` is the comparison of the result with its promise; `segments` are those of the inputs.
    """
    measured, found, at = difference.measured, difference.found, difference.at
    if measured is None:
        return None
    elements = np.diff(segments.starts, append=inputs.size)
    wrong = mismatched = np.zeros(elements.size, np.int64)
    if found is not None and at is not None:
        flushed = np.zeros(at.size, bool) if difference.flushed is None else difference.flushed
        owner = np.searchsorted(segments.starts, at, "right") - 1
        wrong = np.bincount(owner[found.wrong_class | flushed], minlength=elements.size)
        mismatched = np.bincount(owner[found.wrong & ~flushed], minlength=elements.size)
    counts = np.stack([elements, measured.finite, measured.rounded, wrong, mismatched])
    worst = np.where(measured.largest < 0, -1, inputs.lo + measured.worst * inputs.step)
    return Accuracy.joined(np.concatenate([segments.bins, counts]), measured.total, measured.largest, worst)
