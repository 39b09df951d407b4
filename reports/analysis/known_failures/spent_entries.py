"""Spent entries: the entries of known failures that a run has no more use for, and the files without them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import Place
from tf_opdiff.reports.analysis.known_failures import known_text
from tf_opdiff.reports.analysis.known_failures.ledger import SAYS
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.text.lines import plain


def spent(entries: pd.DataFrame) -> pd.Series:
    """Whether each entry is spent; `entries` is the result of `reports.analysis.known_failures.ledger.entries`."""
    return entries["state"].isin(["stale", "idle"])


def lines(entries: pd.DataFrame, target: Path | None) -> list[str]:
    """A line for each entry to delete or to narrow, and one with the count.

    Args:
      entries: the result of `reports.analysis.known_failures.ledger.entries`.
      target: the file or folder that is written without the spent entries, if any.
    """
    words = []
    for row in tables.rows(entries[entries["state"].isin(SAYS)]):
        place = Place(row["file"], row["entry"], row["cause"])
        words.append(f"{place} ({row['spec']}, {row['kind']}): {SAYS[row['state']].format(**row)}")
    written = f"; {target} is without them" if target else ""
    return [*map(plain, words), f"{spent(entries).sum()} of {len(entries)} entries are spent{written}"]


def files_without(known: Path, entries: pd.DataFrame) -> dict[Path, tuple[str, str]]:
    """For each file of known failures its text, and its text without spent entries and causes of only those.

    Args:
      known: the file or folder of known failures.
      entries: the result of `reports.analysis.known_failures.ledger.entries`.

    Raises:
      ValueError: a file is not laid out one entry a line.
    """
    is_spent = spent(entries)
    texts = {}
    for name, path in known_files.files(known).items():
        own = entries[is_spent & (entries["file"] == name)]
        kinds = set(own[["cause", "entry", "kind"]].itertuples(index=False, name=None))
        text = path.read_bytes().decode()
        texts[path] = text, known_text.without(text, kinds)
    return texts
