"""Item result: an item's records as the outcome of its pytest test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tf_opdiff.harness.judge.wording import sentence
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.system.terminal import safe


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
    """One line for each failing record, then each command that reruns them, once."""
    for record in failing:
        yield sentence(record)
    for command in dict.fromkeys(record.rerun for record in failing):
        yield f"  rerun: {command}"
