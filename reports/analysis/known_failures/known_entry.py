"""A known failure that is suggested: its entry, the stub of its cause, and the text that a person completes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.reports.analysis.known_failures import known_line
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.summary import plain

#: Stands where a person has to write; `harness.judge.known_failures.known_files.load` refuses it.
PLACEHOLDER = "TODO"
FIELDS = ("spec", "dtype", "attrs", "recipe", "device", "mode", "quantity", "against")
#: What a person writes of a cause; a cause without a link says `source` or `measured` instead.
_CAUSE = ("title", "severity", "owner", "reason", "link")


@dataclass(frozen=True)
class Suggestion:
    """A suggested entry.

    cause      the id that is proposed for its cause; suggestions that fail alike share one.
    selectors  the entry's.
    kind, code, tf  the entry's.
    rows       the index of the records that it selects.
    """

    cause: str
    selectors: Mapping[str, str | list[str]]
    kind: str
    code: str
    tf: str
    rows: pd.Index

    def entry(self, cause: Cause) -> Entry:
        """The entry, once somebody has written its cause."""
        fields: dict[str, Any] = {**self.selectors, "kind": self.kind, "code": self.code, "tf": self.tf}
        return Entry(**fields, cause=cause)


def text(suggestions: Sequence[Suggestion], why: pd.Series, records: pd.DataFrame) -> str:
    """TOML for a file of known failures, once a person has completed each cause.

    Above each entry stands its simplest example; the entries stand in the stub of their cause.
    """
    parts = []
    for cause, alike in groupby(suggestions, lambda one: one.cause):
        stub = [f"{name} = {known_line.toml(PLACEHOLDER)}" for name in _CAUSE]
        items = [line for one in alike for line in _entry(one, records)]
        parts.append("\n".join([f"[cause.{cause}]", *stub, known_line.entries(items)]))
    lines = []
    for reason in why.drop_duplicates().tolist():
        some = records.loc[why.index[why == reason]]
        lines.append(f"# No entry for {_many(some)}, such as {plain(str(some['case'].iloc[0]))}:")
        lines.append(f"#   {plain(reason, 300)}")
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])]) + "\n"


def _entry(one: Suggestion, records: pd.DataFrame) -> list[str]:
    """The lines of an entry, under comments with its simplest example."""
    some = records.loc[one.rows]
    row = tables.row(records, tables.simplest_first(some).index[0])
    plans = " ".join(map(str, sorted(set(tables.plans(some).astype(str)), key=tables.plan_order)))
    values = [text for text in (sentence.values(row), row["detail"]) if text]
    comments = [f"{_many(some)} on {plans}", sentence.of_record(row), *values, f"rerun: {row['rerun']}"]
    fields = {n: one.selectors[n] for n in FIELDS if n in one.selectors} | {"kind": one.kind}
    fields |= {"code": one.code} if one.code else {}
    return [*(f"    # {plain(line, 300)}" for line in comments), known_line.entry(fields | {"tf": one.tf})]


def _many(records: pd.DataFrame) -> str:
    counts = [(len(records), "record"), (records["case"].nunique(), "case")]
    return " of ".join(f"{n:,} {name if n == 1 else name + 's'}" for n, name in counts)
