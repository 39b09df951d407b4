"""Item result: an item's records as the outcome of its pytest test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.repro.findings import groups
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.system.terminal import safe

#: The most names of cases and of plans in a line.
_NAMED = 4


def conclude(records: Sequence[Record]) -> None:
    """Ends the test of an item by its records: fails, skips (if all are unavailable) or passes."""
    failing = [record for record in records if record.failing]
    if failing:
        pytest.fail(safe("\n".join(lines(failing))), pytrace=False)
    if all(record.verdict == "unavailable" for record in records):
        reasons = {record.detail for record in records}
        # a run in which nothing else happened fails: see `session_end`
        pytest.skip(safe(f"unavailable: {'; '.join(sorted(reasons))}"))


def lines(failing: Sequence[Record]) -> Iterator[str]:
    """For each cause: its simplest record, the plans and cases of the others, and the command that reruns the first."""
    for first, *others in groups(failing):
        yield sentence(first)
        if others:
            plans = _named([record.plan for record in (first, *others)], "plans")
            cases = _named([record.case for record in (first, *others)], "cases")
            yield f"  {len(others)} more {'record' if len(others) == 1 else 'records'} like it: on {plans}; in {cases}"
        yield f"  rerun: {first.rerun}"


def _named(names: Sequence[str], kind: str) -> str:
    """The distinct names, or the number of those that are not listed."""
    distinct = list(dict.fromkeys(names))
    left = len(distinct) - _NAMED
    return ", ".join(distinct[:_NAMED]) + (f" and {left} more {kind}" if left > 0 else "")
