"""Op totals: the ops of a run by family, ops counted by plan, and discrepancies counted by severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.reports.analysis.ops.op_cells import OpCell, worse
from tf_opdiff.reports.analysis.ops.op_view import OpView
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy, severity_order
from tf_opdiff.reports.text.verdicts import SEVERITY

#: The titles of the pages that belong to no family of raw ops.
OTHER_OPS, WITHOUT_OP = "Other ops", "Specs without a covered op"


@dataclass(frozen=True, kw_only=True)
class OpLine:
    """An op in the list: its worst cell under each plan; those of programs with other ops if it has no spec alone."""

    view: OpView
    cells: Mapping[str, OpCell]


@dataclass(frozen=True)
class OpTotals:
    """The list of ops.

    Attributes:
      families: the lines of each family, by its title.
      plans: how many ops have each worst verdict, by plan.
      severities: how many discrepancies the run has, by the title of their severity.
    """

    families: Mapping[str, Sequence[OpLine]]
    plans: Mapping[str, Mapping[str, int]]
    severities: Mapping[str, int]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that occur, the worst first."""
        return [verdict for verdict in SEVERITY if any(verdict in counts for counts in self.plans.values())]


def op_totals(views: Iterable[OpView], ranked: Iterable[Discrepancy], raw_ops: RawOps) -> OpTotals:
    """The list of the ops of a run and its discrepancies; the families are those of raw ops, in their order."""
    lines = [OpLine(view=view, cells=_cells(view)) for view in views]
    titles = [*raw_ops.titles.values(), OTHER_OPS, WITHOUT_OP]
    families: dict[str, list[OpLine]] = {title: [] for title in titles}
    plans: dict[str, Counter[str]] = {}
    for line in lines:
        families[_family(line.view, raw_ops)].append(line)
        for plan, cell in line.cells.items():
            plans.setdefault(plan, Counter())[cell.verdict] += 1
    return OpTotals({title: own for title, own in families.items() if own}, plans, _severities(ranked))


def _cells(view: OpView) -> dict[str, OpCell]:
    """The worst cell of an op under each plan, in the order of the plans."""
    own = [row.cells for rows in view.rows.values() for row in rows]
    found: dict[str, OpCell] = {}
    for cells in own or [spec.cells for spec in view.shared]:
        for plan, cell in cells.items():
            found[plan] = worse(found[plan], cell) if plan in found else cell
    return {plan: found[plan] for plan in view.plans if plan in found}


def _family(view: OpView, raw_ops: RawOps) -> str:
    if not view.page.is_op:
        return WITHOUT_OP
    op = raw_ops.ops.get(view.page.name)
    return raw_ops.titles[op.family] if op else OTHER_OPS


def _severities(ranked: Iterable[Discrepancy]) -> dict[str, int]:
    """How many discrepancies have each severity, by its title, the highest first."""
    counts = Counter(one.severity_title for one in sorted(ranked, key=lambda one: severity_order(one.severity)))
    return dict(counts)
