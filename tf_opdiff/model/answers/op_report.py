"""Op report: the comparison of one replayed op with its recording."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tf_opdiff.harness.judge.differences.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class OpReport:
    """A recorded op that ran alone under another plan.

    Attributes:
      number: the number of the recorded op.
      comparisons: one for each result, in the order of `RecordedOp.results`; none if it did not run.
      local: its own relative error: the largest, over its results, on the recorded inputs.
      total: its relative error on the inputs that the other plan itself computed.
      skipped: why it was not replayed.
      failure: the error, the crash or the hang with which it ended.
    """

    number: int
    comparisons: tuple[Comparison, ...] = ()
    local: float = math.nan
    total: float = math.nan
    skipped: str = ""
    failure: str = ""
