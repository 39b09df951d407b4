"""Discrepancy: one way in which TensorFlow does not do as promised, as readers see it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.judge.severity import SEVERITIES

_ORDER = {name: number for number, name in enumerate(SEVERITIES)}


def severity_order(name: str) -> int:
    """The place of a severity among all, from 0 for the highest; a name that the table lacks comes last."""
    return _ORDER.get(name, len(_ORDER))


@dataclass(frozen=True, kw_only=True)
class Discrepancy:
    """Records that differ for one cause, or failing records of one spec and kind that nobody has explained.

    Attributes:
      id: the id of the cause; for a failure without a cause `SPEC/VERDICT/KIND`; unique in a run.
      verdict: that of its records: `known`, `mismatch`, `error` or `stale`.
      title: a sentence without a full stop, for readers who do not know the code.
      severity: the name of its severity, one of `harness.judge.severity.SEVERITIES`; empty where no result differs.
      severity_reason: why it has this severity; the rule's sentence if nobody has stated another reason.
      owner, reason, link: those of the cause; empty without a cause.
      suites, specs, ops, plans, dtypes, kinds: where it occurs. `ops` are names of OpDefs.
      records: how many records it has.
      disagree: whether plans disagree: one passes where another fails, or a comparison between two plans differs.
        Otherwise all plans agree, and TensorFlow differs from NumPy.
      distance: the largest distance, in ULPs of the result's dtype; NaN if none was taken.
      distance_words: that distance in words, with the allowed one; empty where the record has no words.
      new: whether the previous run lacked it; None without a previous run.
      example: the record that represents it: one with the simplest input.
      switch: the variant of the device with which its program no longer shows it; `none` if it depends on no setting
        that was tried; empty if that is not known. See `harness.repro.attribution`.
    """

    id: str
    verdict: str
    title: str
    severity: str
    severity_reason: str
    owner: str
    reason: str
    link: str
    suites: tuple[str, ...]
    specs: tuple[str, ...]
    ops: tuple[str, ...]
    plans: tuple[str, ...]
    dtypes: tuple[str, ...]
    kinds: tuple[str, ...]
    records: int
    disagree: bool
    distance: float
    distance_words: str
    new: bool | None
    example: Mapping[str, Any]
    switch: str = ""

    @property
    def known(self) -> bool:
        """Whether a cause explains it."""
        return self.verdict == "known"

    @property
    def severity_title(self) -> str:
        """The severity as readers see it; a word on the verdict where no result differs."""
        if severity := SEVERITIES.get(self.severity):
            return severity.title
        return self.severity or {"stale": "no longer fails", "error": "fault of the suite"}.get(self.verdict, "unrated")

    @property
    def sides(self) -> str:
        """The two sides that differ, in words."""
        return "plans disagree" if self.disagree else "TensorFlow against NumPy"

    @property
    def reach(self) -> int:
        """The number of places where it can occur: plans × dtypes × ops."""
        return len(self.plans) * max(1, len(self.dtypes)) * max(1, len(self.ops))

    @property
    def rank(self) -> tuple[int, int, float, str]:
        """The key that sorts discrepancies: by severity, then reach, then distance. The number of records is no part.

        The id makes the order the same in every report.
        """
        distance = -1.0 if math.isnan(self.distance) else self.distance
        return severity_order(self.severity), -self.reach, -distance, self.id
