"""Coverage page: a map of the raw ops by family, and for each op what was tested and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_opdiff.harness.spec.raw_ops import RawOps
from tf_opdiff.reports.analysis.op_coverage import STATES, OpCoverage, totals
from tf_opdiff.reports.pages.template import own_style, render

#: The words for `RawOp.gradient`.
GRADIENTS: Mapping[str, str] = {
    "function": "registered",
    "none": "registered as none",
    "absent": "not registered",
}
#: The most specs of an op on the page.
SPECS = 8


def html(raw_ops: RawOps, listed: Sequence[OpCoverage], runs: Sequence[str]) -> str:
    """The page of the coverage by some runs, whose names it states."""
    rows = [_row(coverage) for coverage in listed]
    families = [(id, title, [row for row in rows if row["family"] == id]) for id, title in raw_ops.titles.items()]
    ids = {title: id for id, title in raw_ops.titles.items()}
    table = [row | {"id": ids.get(row["family"], "")} for row in totals(raw_ops, listed).to_dict("records")]
    return render(
        "coverage.html",
        own_style=own_style("coverage/coverage.css"),
        all=table[-1],
        totals=table,
        families=[family for family in families if family[2]],
        states=STATES,
        gradients=GRADIENTS,
        most=SPECS,
        runs=runs,
        tensorflow=raw_ops.tensorflow,
    )


def _row(coverage: OpCoverage) -> dict[str, Any]:
    """The coverage of an op, with the tested dtypes of each type attribute."""
    both = {attr: coverage.op.both(attr) for attr in coverage.op.dtypes}
    return coverage.row() | {"tested_types": [(a, coverage.tested_dtypes(a), types) for a, types in both.items()]}
