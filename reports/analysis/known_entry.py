"""Stanza: an entry that is suggested for known.toml, and the text that a person completes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.judge.known import Entry
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.summary import plain

#: Stands where a person has to write; `harness.judge.known.load` refuses it.
PLACEHOLDER = "TODO"
FIELDS = ("spec", "dtype", "recipe", "device", "mode", "quantity", "against")


@dataclass(frozen=True)
class Suggestion:
    """An entry to be: its `selectors`, `kind`, `code` and `tf`; `rows`, the index of the records that it selects."""

    selectors: Mapping[str, str | list[str]]
    kind: str
    code: str
    tf: str
    rows: pd.Index

    def entry(self, owner: str, reason: str) -> Entry:
        """The entry, once somebody has said who has to act and why it fails."""
        said: dict[str, Any] = {**self.selectors, "kind": self.kind, "code": self.code, "tf": self.tf}
        return Entry(**said, owner=owner, reason=reason)


def text(suggestions: Sequence[Suggestion], why: pd.Series, records: pd.DataFrame) -> str:
    """TOML to be appended to known.toml, once a person has checked each: above each entry its simplest example."""
    parts = []
    for one in suggestions:
        some = records.loc[one.rows]
        row = tables.row(records, tables.simplest_first(some).index[0])
        plans = " ".join(map(str, sorted(set(tables.plans(some).astype(str)), key=tables.plan_order)))
        many = f"{_many(some)} on {plans}"
        said = [
            many,
            sentence.of_record(row),
            *filter(None, [sentence.values(row), row["detail"]]),
            f"rerun: {row['rerun']}",
        ]
        fields = {**{n: one.selectors[n] for n in FIELDS if n in one.selectors}, "kind": one.kind}
        fields |= {"code": one.code} if one.code else {}
        fields |= {"owner": PLACEHOLDER, "reason": PLACEHOLDER, "tf": one.tf}
        lines = [*(f"# {plain(line, 300)}" for line in said), "[[known]]"]
        parts.append("\n".join([*lines, *(f"{name} = {_toml(value)}" for name, value in fields.items())]))
    lines = []
    for reason in why.drop_duplicates().tolist():
        some = records.loc[why.index[why == reason]]
        lines.append(f"# No entry for {_many(some)}, such as {plain(str(some['case'].iloc[0]))}:")
        lines.append(f"#   {plain(reason, 300)}")
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])]) + "\n"


def _many(records: pd.DataFrame) -> str:
    counts = [(len(records), "record"), (records["case"].nunique(), "case")]
    return " of ".join(f"{n:,} {name if n == 1 else name + 's'}" for n, name in counts)


def _toml(value: str | list[str]) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    safe = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value)
    return f'"{safe}"'
