"""Headline: what a reader must know of a run first, in one or two lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures.tested_places import TestedPlaces
from tf_opdiff.reports.text.counted import many
from tf_opdiff.reports.text.sentences import discrepancy_words, sentence
from tf_opdiff.reports.text.sentences.tested import place


def headline(records: pd.DataFrame, info: RunInfo, ranked: Sequence[Discrepancy]) -> list[str]:
    """The most severe failure that nobody has explained and its example; else how many discrepancies are known.

    The first line counts the other failures. The list is empty for a run without records.

    Args:
      records: those of the run.
      info: its run.json.
      ranked: its discrepancies, as `reports.data.causes.discrepancies.discrepancies` gives them.
    """
    partial = bool(sentence.shortfalls(info))
    failing = [one for one in ranked if not one.known]
    if failing:
        worst = failing[0]
        more = "" if len(failing) == 1 else f" {many(len(failing) - 1, 'more finding')} below."
        first = f"{worst.title} {discrepancy_words.extent(worst, TestedPlaces(records))}.{more}"
        return [f"Partial run: {first}" if partial else first, _example(worst)]
    if not len(records):
        return []
    first = f"{place(info)}: {_known(ranked)}."
    return [f"Partial run. {first}" if partial else first, *_by_severity(ranked)]


def _known(ranked: Sequence[Discrepancy]) -> str:
    """How many discrepancies are known, and how many of these the previous run lacked."""
    if not ranked:
        return "no discrepancy"
    count = f"{len(ranked):,} known {'discrepancy' if len(ranked) == 1 else 'discrepancies'}"
    new = [one.new for one in ranked if one.new is not None]
    return count + (f", {sum(new) or 'none'} new" if new else "")


def _by_severity(ranked: Sequence[Discrepancy]) -> list[str]:
    """How many discrepancies have each severity, the highest first."""
    counts = Counter(one.severity_title for one in ranked)
    words = "; ".join(f"{title}: {n:,}" for title, n in counts.items())
    return [f"{words[0].upper()}{words[1:]}."] if words else []


def _example(one: Discrepancy) -> str:
    numbers, where = discrepancy_words.numbers(one), discrepancy_words.example_place(one)
    return f"Example: {numbers} ({where})." if numbers else f"Example: {where}."
