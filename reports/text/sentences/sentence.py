"""Sentence: one record, or the state of a run, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.wording import number, values
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.harness.store.run_directories.run_info import REPORTING, STOPPED, RunInfo
from tf_opdiff.reports.data.run_data.load import SCRIPT
from tf_opdiff.reports.text.verdicts import VERDICTS

__all__ = ["number", "of_record", "of_repro", "of_run", "partial_note", "shortfalls", "values", "without_case"]

#: Why a run is partial, by its state.
_ENDED = {
    "running": "it never ended (killed, or still running)",
    "interrupted": "it was interrupted",
    "fault": "it ended with a fault of the suite itself",
    "empty": "nothing was selected",
}


def of_record(row: Mapping[str, Any]) -> str:
    """The case, and the sentence about its record."""
    return f"{row['case']}, {without_case(row)}"


def without_case(row: Mapping[str, Any]) -> str:
    """The sentence about a record: `output[0] on cpu/xla: differs from numpy in 3 of 67 elements (value).`"""
    counted = f" in {row['mismatched']:,} of {row['size']:,} elements"
    counted = counted if row["mismatched"] and row["verdict"] != "match" else ""
    kinds = wording.kinds(row["kind"], row["kinds"]).replace("_", " ")
    kind = f" ({kinds})" if kinds and not wording.against_itself(row) else ""
    return f"{row['quantity']} on {_plan(row)}: {_comparison(row)}{counted}{_margin(row)}{kind}."


def _plan(row: Mapping[str, Any]) -> str:
    return str(PlanName(row["device"], row["mode"]))


def _comparison(row: Mapping[str, Any]) -> str:
    against, verdict = str(row["against"]), VERDICTS[row["verdict"]]
    if against.startswith(CLAIM):
        return verdict.against_claim.format(against=f"claim {against.removeprefix(CLAIM)}")
    if against != _plan(row):
        return verdict.against_other.format(against=against)
    if row["verdict"] == "match" and row["max_ulp"] > 0:
        return "stays within its budget wherever the value is in the tensor"
    wrong = wording.against_itself(row) if row["verdict"] in ("known", "mismatch") else ""
    return (f"as known, {wrong}" if row["verdict"] == "known" else wrong) or verdict.against_itself


def _margin(row: Mapping[str, Any]) -> str:
    """The share of its budget that a match uses."""
    if row["verdict"] != "match" or math.isnan(row["max_ulp"]) or row["max_ulp"] == 0:
        return ""
    return f", at most {number(row['max_ulp'])} ULP off, {number(row['budget'])} allowed"


def shortfalls(info: RunInfo) -> list[str]:
    """The reasons why a run is partial; empty for a whole run."""
    reasons = []
    if any(cell.get("why") == STOPPED for cell in info.not_run):
        reasons.append(f"it {STOPPED}")
    elif info.state not in ("complete", REPORTING):
        reasons.append(_ENDED.get(info.state, f"its state is {info.state!r}"))
    if info.not_run:
        reasons.append(f"{len(info.not_run):,} of {info.planned:,} planned cells have no result")
    unaccounted = info.planned - info.recorded - len(info.not_run)
    if unaccounted:
        reasons.append(f"{unaccounted:,} of {info.planned:,} planned cells are unaccounted for")
    if info.damaged:
        reasons.append(f"{info.damaged:,} damaged {'line' if info.damaged == 1 else 'lines'} in its shards")
    return reasons + info.faults


def of_run(info: RunInfo, counts: Mapping[str, int], *, brief: bool = False) -> str:
    """The state of a run in one line, which always says if the run is partial; `brief` leaves out the reasons."""
    missing = shortfalls(info)
    failing = sum(counts[v] for v in ("mismatch", "error", "stale"))
    verdict = f"{failing:,} of {sum(counts.values()):,} records fail" if failing else "no record fails"
    verdict = f"Of what ran, {verdict}." if missing else verdict.capitalize() + "."
    if not sum(counts.values()):
        verdict = "There are no records."
    return f"Partial run{'' if brief else ': ' + '; '.join(missing)}. {verdict}" if missing else verdict


def partial_note(run: Path) -> list[str]:
    """A line that says why the run in a directory is partial; no line for a whole run."""
    try:
        missing = shortfalls(RunInfo.load(run))
    except (OSError, ValueError, TypeError):
        missing = ["it has no run.json that can be read"]
    return [f"partial run: {'; '.join(missing)}"] if missing else []


#: The outcomes of findings that have a program to show, in words.
_OF_REPRO = {
    "reproduced": "A minimal program reproduces it; it was run",
    "reproduced earlier": "Reproduced in run {run} on {date} UTC, not run again",
    "elsewhere": "Its minimal program was not run: the device is not on this machine",
}


def of_repro(outcome: Mapping[str, Any] | None) -> tuple[str, str]:
    """The outcome of a finding's script in words, and the script's path within the run.

    The path is empty without a script, and of a script that was run and did not show the finding: a reader is given no
    program that does not work. The words then say why.
    """
    if outcome is None:
        return "", ""
    path = str(outcome["script"])
    if outcome["status"] not in _OF_REPRO:
        last = next((line for line in reversed(str(outcome["output"]).splitlines()) if line.strip()), "")
        why = str(outcome.get("why", "")) or last or str(outcome["status"])
        return f"No program of its own shows it: {why[:200]}", ""
    date = str(outcome.get("date", ""))[:16].replace("T", " ")
    words = _OF_REPRO[outcome["status"]].format(run=outcome.get("run", ""), date=date)
    return words, path if SCRIPT.fullmatch(path) else ""
