"""Op view: the content of the page of one op, from the records of a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import not_
from typing import Any

import pandas as pd

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import CLAIM, FAILING
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import overall, verdicts
from tf_opdiff.reports.analysis.ops.op_cells import OpCell, OpRow, op_rows, worse
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.extremes import ROUNDING
from tf_opdiff.reports.data.names.op_names import OpName
from tf_opdiff.reports.data.run_data.plans import in_order
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN, SEVERITY

#: The columns that tell a discrepancy from others where no cause explains it.
_UNEXPLAINED = ("verdict", "spec", "kind")
_CONTRACT = ("reason", "link")
_SHOWN = (
    *("suite", "spec", "case", "dtype", "attrs", "device", "mode", "plan", "against", "quantity", "verdict", "kind"),
    *("size", "mismatched", "max_ulp", "budget", "worst_index", "input", "got", "want", "detail", "owner", "reason"),
    *("link", "example_index", "example", "distance", "cause", "severity"),
)


@dataclass(frozen=True, kw_only=True)
class RecordGroup:
    """Records of one discrepancy or of one contract.

    Attributes:
      first: the record that represents the others: the one with the simplest input.
      records: how many there are.
      specs, plans, dtypes, quantities: where.
      cause: the cause that explains them, if one does.
      severity: the name of their severity; empty for a contract and for an unknown one.
    """

    first: Mapping[str, Any]
    records: int
    specs: list[str]
    plans: list[str]
    dtypes: list[str]
    quantities: list[str]
    cause: Cause | None = None
    severity: str = ""


@dataclass(frozen=True, kw_only=True)
class SharedSpec:
    """A spec in which the op runs with others: its worst cell under each plan."""

    spec: str
    suite: str
    cells: Mapping[str, OpCell]


@dataclass(kw_only=True)
class OpView:
    """The content of one page.

    Attributes:
      page: the op and its specs.
      plans: the plans in the order of the columns.
      rows: for each dtype the rows of the op's own specs.
      comparisons: how many records the op's own specs have.
      worst: the row, the plan and the cell with the distance that uses most of its budget, of those with a margin.
      discrepancies: those that the op's own specs show, the most severe first.
      elsewhere: those that only specs show in which the op runs with others.
      contracts: the documented divergences of the op's own specs.
      shared: the specs in which the op runs with others.
      claims: for each claim with a program on the page, its verdict.
      suites: the suite of each spec.
    """

    page: OpName
    plans: list[str]
    rows: dict[str, list[OpRow]]
    comparisons: int
    worst: tuple[OpRow, str, OpCell] | None
    discrepancies: list[RecordGroup]
    elsewhere: list[RecordGroup]
    contracts: list[RecordGroup]
    shared: list[SharedSpec]
    claims: dict[str, str]
    suites: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """`failing`, `known` or `clean`, by the worst discrepancy; `untested` without any comparison.

        The op's own specs decide; if it has none, those in which it runs with others.
        """
        verdicts = {group.first["verdict"] for group in (self.discrepancies if self.rows else self.elsewhere)}
        if verdicts & {*FAILING}:
            return "failing"
        return "known" if verdicts else "clean" if self.rows or self.shared else "untested"


class OpViews:
    """The tables of a run from which the view of each op is made; computed once for all ops."""

    def __init__(self, records: pd.DataFrame, causes: Mapping[str, Cause]) -> None:
        """Takes the records of a run, and the causes by which it was judged, by their ids."""
        self._causes = causes
        self._plans = list(tables.plans(records).cat.categories)
        self._rows = op_rows(records)
        self._counts = records.groupby("spec", observed=True).size().to_dict()
        places = records[["spec", "suite"]].drop_duplicates().astype("str")
        self._suites = dict(places.itertuples(index=False, name=None))
        about_claims = records["against"].astype(str).str.startswith(CLAIM)
        claimed = records.loc[about_claims, ["spec", "against"]].drop_duplicates().astype("str")
        self._claims: dict[str, list[str]] = {}
        for spec, against in claimed.itertuples(index=False):
            self._claims.setdefault(spec, []).append(against.removeprefix(CLAIM))
        by_plan = verdicts(records)
        self._claim_verdicts = {str(claim): overall(v.tolist()) for claim, v in by_plan.groupby("claim")["verdict"]}
        off = ~about_claims & records["verdict"].isin(FAILING_OR_KNOWN)
        self._off = _by_spec(tables.simplest_first(records[off]))
        self._contracts = _by_spec(records[~about_claims & (records["verdict"] == "contract")])

    def view(self, page: OpName) -> OpView:
        """The content of a page."""
        own = [row for spec in page.own for row in self._rows.get(spec, ())]
        rows: dict[str, list[OpRow]] = {}
        for row in sorted(own, key=lambda row: dtype_order(row.dtype)):
            rows.setdefault(row.dtype, []).append(row)
        specs = [*page.own, *page.shared]
        ran = {plan for row in own for plan in row.cells} or set(self._plans)
        shared = [s for s in (self._shared(spec) for spec in page.shared) if s.cells]
        groups = self._discrepancies(specs, {*page.own})
        return OpView(
            page=page,
            plans=[plan for plan in self._plans if plan in ran or any(plan in s.cells for s in shared)],
            rows=rows,
            comparisons=sum(self._counts[spec] for spec in page.own),
            worst=_worst(own),
            discrepancies=[group for group in groups if not {*page.own}.isdisjoint(group.specs)],
            elsewhere=[group for group in groups if {*page.own}.isdisjoint(group.specs)],
            contracts=_grouped(_of(self._contracts, page.own), _CONTRACT),
            shared=shared,
            claims={c: self._claim_verdicts[c] for spec in specs for c in self._claims.get(spec, ())},
            suites={spec: self._suites[spec] for spec in specs},
        )

    def _discrepancies(self, specs: Sequence[str], own: Collection[str]) -> list[RecordGroup]:
        """The discrepancies of some specs; a record of an `own` spec represents its group before others."""
        records = _of(self._off, specs)
        explained = [bool(record["cause"]) and record["verdict"] in ("known", "stale") for record in records]
        groups = _grouped(_by_each_cause([*compress(records, explained)]), ("verdict", "cause"), self._causes, own)
        groups += _grouped([*compress(records, map(not_, explained))], _UNEXPLAINED, own=own)
        order, names = {name: i for i, name in enumerate(SEVERITIES)}, list(SEVERITY)
        return sorted(
            groups,
            key=lambda g: (
                names.index(g.first["verdict"]),
                order.get(g.severity, len(order)),
                -len(g.plans) * len(g.dtypes),
                -g.records,
            ),
        )

    def _shared(self, spec: str) -> SharedSpec:
        cells: dict[str, OpCell] = {}
        for row in self._rows.get(spec, ()):
            for plan, cell in row.cells.items():
                cells[plan] = worse(cells[plan], cell) if plan in cells else cell
        return SharedSpec(spec=spec, suite=self._suites[spec], cells=cells)


def dtype_order(dtype: str) -> tuple[int, int, str]:
    """The key that sorts dtypes: floating-point ones first, then complex ones, then the rest; small ones first."""
    kinds = [i for i, kind in enumerate(("float", "bfloat", "complex", "int", "uint")) if dtype.startswith(kind)]
    digits = re.search(r"\d{1,4}", dtype)
    return {1: 0}.get(kinds[0], kinds[0]) if kinds else 9, int(digits[0]) if digits else 0, dtype


def _by_spec(records: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The records of each spec, in their order, as plain data with the column `plan`."""
    by_spec: dict[str, list[dict[str, Any]]] = {}
    for record in tables.rows(records.assign(plan=tables.plans(records).astype("str"))[list(_SHOWN)]):
        by_spec.setdefault(record["spec"], []).append(record)
    return by_spec


def _of(by_spec: Mapping[str, list[dict[str, Any]]], specs: Iterable[str]) -> list[dict[str, Any]]:
    return [record for spec in specs for record in by_spec.get(spec, ())]


def _by_each_cause(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The records once for each of their causes; first those that show the kind that the cause explains."""
    pairs = [(record, enumerate(record["cause"].split(";"))) for record in records]
    each = [(place > 0, {**record, "cause": cause}) for record, causes in pairs for place, cause in causes]
    return [record for _, record in sorted(each, key=lambda one: one[0])]


def _grouped(
    records: Iterable[Mapping[str, Any]],
    keys: Sequence[str],
    causes: Mapping[str, Cause] | None = None,
    own: Collection[str] = (),
) -> list[RecordGroup]:
    """The records with equal values of some columns, the group with most records first; `own` specs represent it."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in keys), []).append(record)
    made = []
    for members in groups.values():
        cause = (causes or {}).get(members[0]["cause"])
        severity = cause.severity if cause else members[0]["severity"]
        made.append(
            RecordGroup(
                first=min(members, key=lambda record: (record["spec"] not in own, record["against"] != "numpy")),
                records=len(members),
                specs=_distinct(members, "spec"),
                plans=in_order(record["plan"] for record in members),
                dtypes=_distinct(members, "dtype"),
                quantities=_distinct(members, "quantity"),
                cause=cause,
                severity=severity,
            )
        )
    return sorted(made, key=lambda group: -group.records)


def _distinct(records: Iterable[Mapping[str, Any]], column: str) -> list[str]:
    return sorted({record[column] for record in records})


def _worst(rows: Iterable[OpRow]) -> tuple[OpRow, str, OpCell] | None:
    """The cell that uses most of its budget, of those within it; budgets beyond rounding come first."""
    cells = [(row, plan, cell) for row in rows for plan, cell in row.cells.items() if 0 <= cell.used <= 1]
    with_margin = [item for item in cells if item[2].budget > ROUNDING and item[2].max_ulp > 0]
    return max(with_margin or cells, key=lambda item: (item[2].used, item[2].max_ulp), default=None)
