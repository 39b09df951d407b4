"""Findings: the records that stand for all failing records of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tf_opdiff.harness.judge.differences.simplest import TIES, of_texts
from tf_opdiff.harness.store.records.record import CLAIM, Record


def groups(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each spec × verdict × kind × cause, in the order of their first records.

    In a group, a record against NumPy comes before others, then the one with the simplest input.
    """
    records = list(records)
    simple = of_texts(record.example for record in records)

    def rank(record: Record) -> Any:
        ties = record.dtype != "float32", *(getattr(record, name) for name in TIES)
        return record.against != "numpy", simple[record.example], ties

    alike: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        key = (record.suite, record.spec, record.verdict, record.kind, record.known_reason)
        alike.setdefault(key, []).append(record)
    return [sorted(group, key=rank) for group in alike.values()]


def findings(records: Iterable[Record]) -> list[Record]:
    """The first record of each group of failures and known failures. Faults of the suite are left out."""
    candidates = [r for r in records if r.verdict in ("known", "mismatch") and not r.against.startswith(CLAIM)]
    return [first for first, *_ in groups(candidates)]
