"""Sentence: one record, or the state of a run, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tf_opdiff.harness.judge import wording
from tf_opdiff.harness.judge.wording import values
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.rundir import STOPPED, RunInfo
from tf_opdiff.reports.data.load import SCRIPT

__all__ = ["number", "of_record", "of_repro", "of_run", "shortfalls", "values", "without_case"]

_SAYS = {
    "match": "matches {against}",
    "contract": "keeps its documented divergence, against {against}",
    "known": "differs, as known, from {against}",
    "mismatch": "differs from {against}",
    "stale": "no longer differs from {against}, though an entry says so",
    "error": "proves nothing about {against}: the suite itself is at fault",
    "unavailable": "can't run, so it was not set against {against}",
}
_SAYS_OF_ITSELF = {
    "mismatch": "differs between its runs",
    "known": "differs between its runs",
    "match": "gives the same bits again, in smaller tensors too, and leaves its inputs as they are",
    "stale": "gives the same again, though a known failure says that it does not",
    "error": "proves nothing: the suite itself is at fault",
    "unavailable": "can't run",
}
_SAYS_OF_CLAIM = {
    "match": "bears out {against}",
    "contract": "refutes {against}, as expected",
    "mismatch": "refutes {against}, which was expected to hold",
    "stale": "bears out {against}, which was expected to be refuted",
    "error": "proves nothing about {against}: the suite itself is at fault",
    "unavailable": "can't run, so it says nothing of {against}",
}
_ENDED = {
    "running": "it never ended (killed, or still running)",
    "interrupted": "it was interrupted",
    "fault": "it ended with a fault of its own",
    "empty": "nothing was selected",
}


def number(value: float) -> str:
    """A number as people read it: four digits, `inf` and `NaN` as words, nothing for what was not measured."""
    if math.isnan(value):
        return "–"
    if math.isinf(value) or (value == int(value) and abs(value) < 1e6):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def of_record(row: Mapping[str, Any]) -> str:
    """What was found, and in which case."""
    return f"{row['case']}, {without_case(row)}"


def without_case(row: Mapping[str, Any]) -> str:
    """What was found: `output[0] on cpu/xla: differs from numpy in 3 of 67 elements (value).`"""
    counted = f" in {row['mismatched']:,} of {row['size']:,} elements"
    counted = counted if row["mismatched"] and row["verdict"] != "match" else ""
    kind = f" ({row['kind'].replace('_', ' ')})" if row["kind"] and not wording.against_itself(row) else ""
    return f"{row['quantity']} on {row['device']}/{row['mode']}: {_says(row)}{counted}{_margin(row)}{kind}."


def _says(row: Mapping[str, Any]) -> str:
    against = str(row["against"])
    if against.startswith(CLAIM):
        return _SAYS_OF_CLAIM[row["verdict"]].format(against=f"claim {against.removeprefix(CLAIM)}")
    if against != f"{row['device']}/{row['mode']}":
        return _SAYS[row["verdict"]].format(against=against)
    if row["verdict"] == "match" and row["max_ulp"] > 0:
        return "stays within its budget wherever the value is in the tensor"
    wrong = wording.against_itself(row) if row["verdict"] in ("known", "mismatch") else ""
    return (f"as known, {wrong}" if row["verdict"] == "known" else wrong) or _SAYS_OF_ITSELF.get(row["verdict"], "")


def _margin(row: Mapping[str, Any]) -> str:
    """How much of the budget a match takes."""
    if row["verdict"] != "match" or math.isnan(row["max_ulp"]) or row["max_ulp"] == 0:
        return ""
    return f", at most {number(row['max_ulp'])} ULP off, {number(row['budget'])} allowed"


def shortfalls(info: RunInfo) -> list[str]:
    """Why a run is not whole, one reason an entry; none for a run that is."""
    found = []
    if any(cell.get("why") == STOPPED for cell in info.not_run):
        found.append(f"it {STOPPED}")
    elif info.state != "complete":
        found.append(_ENDED.get(info.state, f"its state is {info.state!r}"))
    if info.not_run:
        found.append(f"{len(info.not_run):,} of {info.planned:,} planned cells have no result")
    unaccounted = info.planned - info.recorded - len(info.not_run)
    if unaccounted:
        found.append(f"{unaccounted:,} of {info.planned:,} planned cells are unaccounted for")
    if info.damaged:
        found.append(f"{info.damaged:,} damaged {'line' if info.damaged == 1 else 'lines'} in its shards")
    return found + info.faults


def of_run(info: RunInfo, counts: Mapping[str, int], *, brief: bool = False) -> str:
    """How the run stands, in one line that never hides that it is partial; `brief` leaves out why it is."""
    missing = shortfalls(info)
    failing = sum(counts[v] for v in ("mismatch", "error", "stale"))
    verdict = f"{failing:,} of {sum(counts.values()):,} records fail" if failing else "no record fails"
    verdict = f"Of what ran, {verdict}." if missing else verdict.capitalize() + "."
    if not sum(counts.values()):
        verdict = "There is no record at all."
    return f"Partial run{'' if brief else ': ' + '; '.join(missing)}. {verdict}" if missing else verdict


_OF_REPRO = {
    "reproduced": "Shown by a program of its own, which was run",
    "reproduced earlier": "Reproduced in run {run} on {date} UTC, not run again",
    "not reproduced": "Its program was run, and did not show it",
    "failed": "Its program failed",
    "no script": "It has no program",
    "elsewhere": "It has a program, which was not run: the device was recorded elsewhere",
}


def of_repro(outcome: Mapping[str, Any] | None) -> tuple[str, str]:
    """What became of a finding's script, and the script's path within the run; empty where there is none."""
    if outcome is None:
        return "", ""
    path = str(outcome["script"])
    last = next((line for line in reversed(str(outcome["output"]).splitlines()) if line.strip()), "")
    said = _OF_REPRO.get(outcome["status"], str(outcome["status"]))
    if outcome["status"] in ("failed", "no script") and last:
        said += f" ({last[:200]})"
    if outcome["status"] == "reproduced earlier":
        date = str(outcome.get("date", ""))[:16].replace("T", " ")
        said = said.format(run=outcome.get("run", ""), date=date)
    return said, path if SCRIPT.fullmatch(path) else ""
