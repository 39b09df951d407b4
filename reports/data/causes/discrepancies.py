"""Discrepancies: the failing and the known records of a run, grouped by cause and ranked for readers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.repro.trials.attribution import Attribution
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy, severity_order
from tf_opdiff.reports.data.causes.discrepancy_marks import PLACE, oracle, passes_elsewhere, seen_before
from tf_opdiff.reports.data.causes.failure_title import failure_title
from tf_opdiff.reports.data.causes.findings import simplest_first
from tf_opdiff.reports.data.causes.row_severity import distance_of_row, severity_of_row, shows
from tf_opdiff.reports.data.figures.several import by_each_cause
from tf_opdiff.reports.data.run_data.load import RECORD_COLUMNS, load, load_attributions, load_causes
from tf_opdiff.reports.data.run_data.plans import in_order, plans
from tf_opdiff.reports.data.run_data.rows import rows
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN

_TEXTS = [
    "suite",
    "spec",
    "dtype",
    "kind",
    "cause",
    "owner",
    "reason",
    "link",
    "severity",
    "verdict",
    "raw_op",
    *PLACE,
]
#: The columns of the rows of a group.
_OF_GROUP = [*_TEXTS, "plan", "index", "max_ulp", "distance", "disagree", "group"]
#: The columns of the table that hold several names.
_LISTS = ("suites", "specs", "ops", "plans", "dtypes", "kinds")
#: The columns of the table about the programs that meet a discrepancy.
_OF_PROGRAMS = ("arguments", "function", "raw_op_only", "fixed")
#: The most specs that stand in for a missing title.
NAMED = 3


def discrepancies(
    records: pd.DataFrame,
    causes: Mapping[str, Cause],
    before: pd.DataFrame | None = None,
    attributions: Mapping[str, Attribution] | None = None,
) -> list[Discrepancy]:
    """The discrepancies of a run, the one that matters most first; see `Discrepancy.rank`.

    Known records are grouped by cause, and by reason in a run of an earlier version, whose records have no cause. A
    record with several causes belongs to the group of each; it represents a group only where its numbers are about it.
    Failing records are grouped as `reports.data.causes.findings` groups them.

    Args:
      records: those of a run, as `reports.load` gives them.
      causes: the causes that judged the run, as `reports.data.run_data.load.load_causes` gives them. Where a cause is
        missing, its reason stands for its title, and the rule of `harness.judge.verdicts.severity` gives the severity.
      before: the records of the previous run, to tell which discrepancies are new; None if there is none.
      attributions: the settings on which they depend, as `reports.data.run_data.load.load_attributions` gives them.
    """
    some = records[records["verdict"].isin(FAILING_OR_KNOWN)]
    some = simplest_first(some.assign(plan=plans(some)))
    some = some.astype(dict.fromkeys([*_TEXTS, "plan"], "str")).assign(index=some.index)
    some["oracle"] = oracle(some)
    some["disagree"] = (some["oracle"] == "plan") | passes_elsewhere(some, records)
    some = _by_each_cause(some, causes)
    if before is not None:
        some["seen"] = seen_before(some, before)
    known = some["verdict"] == "known"
    some["group"] = some["cause"].where(some["cause"] != "", some["reason"]).where(known, _finding_id(some))
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows(some[[*_OF_GROUP, *({"seen"} & {*some})]]):
        groups.setdefault((row["verdict"], row["group"]), []).append(row)
    examples = rows(records.loc[[_representative(group, causes) for group in groups.values()], [*RECORD_COLUMNS]])
    ranked = [_discrepancy(*pair, causes) for pair in zip(groups.values(), examples, strict=True)]
    known_switches = {one.id: one.switch for one in (attributions or {}).values()}
    stated = any(cause.function for cause in causes.values())  # the causes of earlier versions state no function
    whole = (
        replace(one, switch=known_switches.get(one.id, ""), **_of_cause(causes.get(one.id), stated=stated))
        for one in ranked
    )
    return sorted(whole, key=lambda one: one.rank)


def _of_cause(cause: Cause | None, *, stated: bool) -> dict[str, Any]:
    """What a cause says of the programs that meet it; `stated`: whether causes of the run state public functions."""
    if cause is None:
        return {}
    texts = {name: getattr(cause, name) for name in ("arguments", "function", "fixed")}
    return texts | {"raw_op_only": stated and not cause.function}


def _by_each_cause(some: pd.DataFrame, causes: Mapping[str, Cause]) -> pd.DataFrame:
    """The known records once for each cause, those that show the kind of their cause first; the failing ones once."""
    known = some["verdict"] == "known"
    each = by_each_cause(some[known], causes)
    return pd.concat([some[~known], each[~each["index"].duplicated()], each[each["index"].duplicated()]])


def of_run(run: Path, records: pd.DataFrame, *, before: Path | None = None) -> list[Discrepancy]:
    """The discrepancies of the run in a directory, with the causes that judged it; see `discrepancies`.

    Args:
      run: the directory of the run.
      records: those of the run.
      before: the directory of the previous run; one that can't be read tells nothing.

    Raises:
      ValueError: causes.json is a link, or malformed.
    """
    previous = None
    if before is not None:
        with contextlib.suppress(OSError, ValueError):
            previous = load(before)
    return discrepancies(records, load_causes(run), previous, load_attributions(run))


def discrepancy_table(
    records: pd.DataFrame,
    causes: Mapping[str, Cause] | None = None,
    attributions: Mapping[str, Attribution] | None = None,
) -> pd.DataFrame:
    """What differs, ranked: one row for each cause, or failure that nobody has explained, the most severe first.

    The columns are the attributes of `reports.data.causes.discrepancy.Discrepancy`, without those about the previous
    run; lists are joined by spaces. `case` and `values` are those of the record that represents it. What causes say of
    the programs that meet them stands at the end.
    """
    return table_of(discrepancies(records, causes or {}, attributions=attributions))


def table_of(ranked: Iterable[Discrepancy]) -> pd.DataFrame:
    """The discrepancies as a table; see `discrepancy_table`."""
    names = [field.name for field in fields(Discrepancy) if field.name not in ("new", "example", *_OF_PROGRAMS)]
    dtypes = dict.fromkeys([*names, "case", "values", *_OF_PROGRAMS], "str")
    dtypes |= {"records": "int64", "disagree": "bool", "distance": "float64", "raw_op_only": "bool"}
    lines = []
    for one in ranked:
        line: dict[str, Any] = {name: getattr(one, name) for name in (*names, *_OF_PROGRAMS)}
        line |= {name: " ".join(line[name]) for name in _LISTS}
        lines.append(line | {"case": one.example["case"], "values": one.example["example"]})
    return pd.DataFrame(lines, columns=[*dtypes]).astype(dtypes)


def _finding_id(some: pd.DataFrame) -> pd.Series:
    """The group of a failing record; a stale one also has the cause that it no longer has."""
    cause = some["cause"].where(some["cause"] != "", some["reason"]).where(some["verdict"] == "stale", "")
    return some["spec"] + "/" + some["verdict"] + "/" + some["kind"] + ("/" + cause).where(cause != "", "")


def _representative(group: Sequence[Mapping[str, Any]], causes: Mapping[str, Cause]) -> Any:
    """The index of the record that represents a group.

    A record whose numbers show the severity of the group comes before others. Then comes a record about a gradient if
    the gradient is wrong, else about an output; then the first.
    """
    severity = _severity_of(group, causes)
    alike = [row for row in group if shows(row, severity)] or group
    fitting = (row for row in alike if (family_of(row["quantity"]) != "output") == (severity == "wrong_gradient"))
    return next(fitting, alike[0])["index"]


def _severity_of(group: Sequence[Mapping[str, Any]], causes: Mapping[str, Cause]) -> str:
    """The severity of the cause, or else of the rows."""
    cause = causes.get(group[0]["cause"]) if group[0]["verdict"] == "known" else None
    return (cause.severity if cause else "") or _severity(group)


def _discrepancy(
    group: Sequence[Mapping[str, Any]], example: Mapping[str, Any], causes: Mapping[str, Cause]
) -> Discrepancy:
    """The discrepancy of the rows of one group; `example` is the whole record that represents them."""
    verdict = example["verdict"]
    cause = causes.get(group[0]["cause"]) if verdict == "known" else None
    explained = {name: getattr(cause, name) if cause else group[0][name] for name in ("owner", "reason", "link")}
    severity = _severity_of(group, causes)
    rule = SEVERITIES[severity].rule if severity in SEVERITIES else ""
    distances = [distance_of_row(row) for row in group]
    farthest = max(range(len(group)), key=lambda i: -1.0 if math.isnan(distances[i]) else distances[i])
    return Discrepancy(
        id=group[0]["group"],
        verdict=verdict,
        title=_title(group, example, cause),
        severity=severity,
        severity_reason=(cause.severity_reason if cause else "") or rule,
        **(explained if verdict in ("known", "stale") else dict.fromkeys(explained, "")),
        suites=_distinct(row["suite"] for row in group),
        specs=_distinct(row["spec"] for row in group),
        dtypes=_distinct(row["dtype"] for row in group),
        kinds=_distinct(row["kind"] for row in group),
        ops=_distinct(op for ops in {row["raw_op"] for row in group} for op in ops.split(";")),
        plans=tuple(in_order(row["plan"] for row in group)),
        records=len(group),
        disagree=any(row["disagree"] for row in group),
        distance=distances[farthest],
        distance_words="" if math.isnan(distances[farthest]) else group[farthest]["distance"],
        new=not any(row["seen"] for row in group) if "seen" in group[0] else None,
        example=example,
    )


def _title(group: Sequence[Mapping[str, Any]], example: Mapping[str, Any], cause: Cause | None) -> str:
    """The title of the cause; without one, the specs and the reason. The sentence about a failure without a cause."""
    spec, verdict = example["spec"], example["verdict"]
    if verdict != "known":
        quantities, against = {row["quantity"] for row in group}, example["against"]
        return failure_title(spec, verdict, example["kind"], quantities=quantities, against=against)
    if cause and cause.title:
        return cause.title.rstrip(".")
    specs = _distinct(row["spec"] for row in group)
    subject = ", ".join(specs[:NAMED]) + (" and others" if len(specs) > NAMED else "")
    reason = cause.reason if cause else group[0]["reason"]
    return f"{subject}: {reason}" if reason else f"{subject} differs, as known"


def _severity(group: Sequence[Mapping[str, Any]]) -> str:
    """The highest severity of the rows; by the rule where no row has one, as in runs of earlier versions."""
    names = {row["severity"] for row in group} - {""}
    if not names and group[0]["verdict"] in ("known", "mismatch"):
        names = {severity_of_row(row) for row in group} - {""}
    return min(names, key=lambda name: (severity_order(name), name), default="")


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The distinct names, sorted, without empty ones."""
    return tuple(sorted(set(names) - {""}))
