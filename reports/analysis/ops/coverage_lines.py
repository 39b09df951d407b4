"""Coverage lines: the raw ops that runs have covered, as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.reports.analysis.ops.op_coverage import STATES, OpCoverage
from tf_opdiff.reports.text import formats


def overview(raw_ops: RawOps, totals: pd.DataFrame) -> Iterator[str]:
    """The totals by family, and what the states mean.

    Args:
      raw_ops: the registry.
      totals: those of `reports.analysis.ops.op_coverage.totals`.
    """
    count = len(raw_ops.ops)
    yield f"{count} raw ops have a kernel for a CPU, and one for a GPU or for XLA, in TensorFlow {raw_ops.tensorflow}"
    yield ""
    yield formats.text(totals)
    yield from (f"{state}: {meaning}" for state, meaning in STATES.items())


def line(coverage: OpCoverage) -> str:
    """One line about an op: its state, the specs, and what is missing."""
    parts = [f"{coverage.op.name}: {coverage.state}"]
    if coverage.specs:
        parts.append(f"by {' '.join(sorted(coverage.specs))}")
    if coverage.op.excluded:
        parts.append(coverage.op.excluded)
    elif coverage.missing:
        why = coverage.explained
        parts.append("missing: " + ", ".join(f"{m} ({why[m]})" if m in why else m for m in coverage.missing))
    return "; ".join(parts)
