"""Judgement: a comparison with its record, and the known failures that explain the difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures.explanation import Explanation
from tf_opdiff.harness.store.records.record import Record


@dataclass(frozen=True)
class Judgement:
    """The judgement on a comparison of a quantity; `shape` is the shape of the result, () if it is no array."""

    record: Record
    comparison: Comparison
    explanation: Explanation
    shape: tuple[int, ...]

    @property
    def known_wrong(self) -> np.ndarray | bool:
        """The elements that differ and are known to; True for all of them. See `Explanation.explained`."""
        return self.explanation.explained(self.shape)
