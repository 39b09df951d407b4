"""Changelog: everything that a comparison of two runs shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.comparisons.causes import causes, counts, example_records
from tf_opdiff.reports.analysis.comparisons.execution import executed
from tf_opdiff.reports.analysis.comparisons.one_sided import one_sided
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.run_environment import alike, differences
from tf_opdiff.reports.text.counted import many, names
from tf_opdiff.reports.text.sentences import change_words, sentence


@dataclass
class Changelog:
    """Everything that a comparison of two runs shows, as plain data.

    Attributes:
      before, after: the `run.json` of each run.
      shortfalls: the reasons why the run `before` or `after` is partial.
      counts: how many records have each change.
      worse: how many records got worse, or fail and are only in the later run.
      only_later: how many of them are only in the later run.
      inputs_changed: how many records have other inputs, so that their distances are not compared.
      differences: the rows of `reports.data.run_data.run_environment.differences`.
      alike: the facts in which both runs agree, by name.
      causes: the rows of `reports.analysis.comparisons.causes.causes`, with the words for each.
      only: the rows of `reports.analysis.comparisons.one_sided.one_sided` for `appeared` and `disappeared`.
      claims: the rows of `reports.analysis.claim_tables.claim_verdicts.changed`.
      numbers: the rows of `reports.analysis.comparisons.silent_changes.silent`; None where the bits were not compared.
      executed: the rows of `reports.analysis.comparisons.execution.executed`.
    """

    before: RunInfo
    after: RunInfo
    shortfalls: dict[str, list[str]]
    counts: dict[str, int]
    worse: int
    only_later: int
    inputs_changed: int
    differences: list[dict[str, Any]]
    alike: dict[str, str]
    causes: list[dict[str, Any]]
    only: dict[str, list[dict[str, Any]]]
    claims: list[dict[str, Any]]
    numbers: list[dict[str, Any]] | None = None
    executed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        """Whether the later run is worse than the earlier one, in one sentence."""
        partial = " Partial runs: see the missing cells." if self.partial else ""
        if not sum(self.counts.values()):
            return "Neither run has a record." + partial
        grown = many(self.worse - self.only_later, "record") if self.regressed else "Nothing"
        fail = many(self.only_later, "record")
        more = f" {fail} that only the later run has {'fails' if self.only_later == 1 else 'fail'}."
        return f"{grown} got worse." + more * bool(self.only_later) + partial

    @property
    def regressed(self) -> bool:
        """Whether a record that both runs planned got worse."""
        return self.worse > self.only_later

    @property
    def partial(self) -> bool:
        """Whether one of the runs is partial."""
        return any(self.shortfalls.values())

    def causes_of(self, change: str) -> list[dict[str, Any]]:
        """The causes of one change."""
        return [cause for cause in self.causes if cause["change"] == change]


def changelog(
    changes: pd.DataFrame,
    before: pd.DataFrame,
    after: pd.DataFrame,
    infos: tuple[RunInfo, RunInfo],
    *,
    claims: pd.DataFrame,
    numbers: pd.DataFrame | None = None,
) -> Changelog:
    """Collects the changelog of two runs.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff` for these records.
      before: the records of the earlier run.
      after: those of the later one.
      infos: the `run.json` of both.
      claims: the result of `reports.analysis.claim_tables.claim_verdicts.changed`.
      numbers: the result of `reports.analysis.comparisons.silent_changes.silent`, where the bits were compared.
    """
    return Changelog(
        *infos,
        shortfalls={"before": sentence.shortfalls(infos[0]), "after": sentence.shortfalls(infos[1])},
        counts=counts(changes),
        worse=int(changes["worse"].sum()),
        only_later=int((changes["worse"] & (changes["change"] == "appeared")).sum()),
        inputs_changed=int(changes["inputs_changed"].sum()),
        differences=tables.rows(differences(*infos)),
        alike=alike(*infos),
        causes=[_in_words(cause, changes, before, after) for cause in tables.rows(causes(changes))],
        only={change: tables.rows(one_sided(changes, change)) for change in ("appeared", "disappeared")},
        claims=tables.rows(claims),
        numbers=None if numbers is None else tables.rows(numbers),
        executed=tables.rows(executed(changes, before, after)),
    )


def _in_words(
    cause: dict[str, Any], changes: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame
) -> dict[str, Any]:
    """A cause, with the texts of the record that represents it."""
    was, now = example_records(changes, cause["example"], before, after)
    record = was if cause["change"] == "fixed" else now
    assert record is not None  # every change but `fixed` is of a record that the later run has
    words = {
        "example": change_words.example(cause["change"], was, now),
        "names": names(cause["specs"]),
        "numbers": change_words.NUMBERS.get(cause["numbers"], ""),
    }
    return cause | words | {name: record[name] for name in ("rerun", "detail", "reason", "link")}
