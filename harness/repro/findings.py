"""Findings: the records that stand for all failing records of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tf_opdiff.harness.judge.simplest import TIES, of_texts
from tf_opdiff.harness.store.record import CLAIM, Record


def findings(records: Iterable[Record]) -> list[Record]:
    """One record for each spec × verdict × kind × cause, of failures and known failures.

    A record against NumPy comes before others, then the one with the simplest input. Faults of the suite are left out.
    """
    candidates = [r for r in records if r.verdict in ("known", "mismatch") and not r.against.startswith(CLAIM)]
    simple = of_texts(record.example for record in candidates)
    best: dict[tuple[str, ...], tuple[Any, Record]] = {}
    for record in candidates:
        ties = record.dtype != "float32", *(getattr(record, name) for name in TIES)
        rank = (record.against != "numpy", simple[record.example], ties)
        key = (record.suite, record.spec, record.verdict, record.kind, record.known_reason)
        if key not in best or rank < best[key][0]:
            best[key] = rank, record
    return [record for _, record in best.values()]
