"""Tables: a run's records by op, spec, plan, verdict and kind, as DataFrames.

This module collects the functions that `reports.tables` offers in Python, and names those that the command
`python -m harness table NAME RUN` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.repro.trials.attribution import Attribution
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.reports.data.causes.discrepancies import discrepancy_table
from tf_opdiff.reports.data.causes.findings import findings, simplest_first, simplicity
from tf_opdiff.reports.data.causes.hidden_faults import hidden
from tf_opdiff.reports.data.causes.known_failures import known
from tf_opdiff.reports.data.causes.missing_kernels import lacking
from tf_opdiff.reports.data.figures.counts import (
    by_kind,
    by_op,
    by_plan,
    by_severity,
    by_spec,
    by_verdict,
    cells,
    counted,
    counts,
    matrix,
)
from tf_opdiff.reports.data.figures.coverage import coverage
from tf_opdiff.reports.data.figures.extremes import slowest, worst_margins
from tf_opdiff.reports.data.run_data.plans import mode_order, plan_order, plans
from tf_opdiff.reports.data.run_data.rows import row, rows
from tf_opdiff.reports.data.run_data.run_environment import not_run
from tf_opdiff.reports.text.verdicts import SEVERITY

__all__ = [
    "NAMED",
    "SEVERITY",
    "by_kind",
    "by_op",
    "by_plan",
    "by_severity",
    "by_spec",
    "by_verdict",
    "cells",
    "counted",
    "counts",
    "coverage",
    "described",
    "discrepancy_table",
    "findings",
    "hidden",
    "known",
    "lacking",
    "make",
    "matrix",
    "mode_order",
    "not_run",
    "plan_order",
    "plans",
    "row",
    "rows",
    "simplest_first",
    "simplicity",
    "slowest",
    "worst_margins",
]

#: The tables that a user can ask for by name.
NAMED: dict[str, Callable[..., pd.DataFrame]] = {
    "discrepancies": discrepancy_table,
    "by_op": by_op,
    "by_spec": by_spec,
    "by_plan": by_plan,
    "by_kind": by_kind,
    "worst_margins": worst_margins,
    "slowest": slowest,
    "coverage": coverage,
    "known": known,
    "hidden": hidden,
    "lacking": lacking,
}
#: Tables of the first so many rows; the others are whole.
_LIMITED = ("worst_margins", "slowest")


def make(
    name: str,
    records: pd.DataFrame,
    causes: Mapping[str, Cause] | None = None,
    attributions: Mapping[str, Attribution] | None = None,
) -> pd.DataFrame:
    """The whole table of this name.

    Args:
      name: one of `NAMED`.
      records: those of a run, as `reports.load` gives them.
      causes: the causes that judged the run, as `reports.data.run_data.load.load_causes` gives them; one table states
        them.
      attributions: the settings on which its discrepancies depend, as `load_attributions` there gives them; likewise.

    Raises:
      LookupError: no table has this name; the message proposes the nearest one.
    """
    if name not in NAMED:
        raise LookupError(unknown("table", name, set(NAMED)))
    if name == "discrepancies":
        return discrepancy_table(records, causes, attributions)
    return NAMED[name](records, len(records)) if name in _LIMITED else NAMED[name](records)


def described() -> str:
    """A line for each named table: its name, and the first sentence of its function's docstring."""
    return "".join(f"{name:14} {(table.__doc__ or '').partition(chr(10))[0]}\n" for name, table in NAMED.items())
