"""Discrepancy: one way in which TensorFlow does not do as promised, as readers see it.

What nobody has explained comes first, by severity. Known discrepancies are ranked by what they can do to a correct
program; the first difference of this list decides:

1. Wrong numbers without an error come first: memory faults, crashes, wrong values, wrong gradients, and lost alarms. An
   alarm is a NaN or an error by which a program notices that something is wrong. Where TensorFlow returns an ordinary
   number instead, the fault stays hidden, so a lost alarm counts like a wrong value. The sign of a zero, or an infinity
   in place of a NaN, hides nothing. Then come errors in place of values, special values, accuracy and conventions.
2. Arguments that the documentation allows come before those that it does not: correct programs do not pass these.
3. What a public function reaches comes before what raw ops alone reach.
4. A common dtype comes before a rare one: those of numbers, texts and indices by default, and those of mixed precision.
5. Memory faults come before other wrong numbers.
6. Plans that disagree come before a fault of all plans: a program that was right goes wrong where a setting changes.
7. Functions at the top level of the API, and those for networks, come before those of other rooms of the API.
8. The reach: the number of specs, which are functions and small programs, times the number of dtypes.
9. The largest distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.reports.data.names.public_function import is_common

#: The dtypes that TensorFlow gives to Python's numbers, truth values and texts, that of indices, and those of mixed
#: precision.
COMMON_DTYPES = frozenset(("float32", "int32", "bool", "bytes", "int64", "float16", "bfloat16"))
#: The severities of wrong numbers without an error.
_SILENT = ("memory", "wrong_value", "wrong_gradient")
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
      severity: the name of its severity, one of `harness.judge.verdicts.severity.SEVERITIES`; empty where no result
        differs.
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
      arguments: `invalid` if the documentation does not allow the arguments that show it; else empty.
      function: the public function that reaches it; empty if raw ops alone do, or if nobody has stated one.
      raw_op_only: whether its cause says that raw ops alone reach it.
      fixed: the link of the merged change that fixes it in a later version; empty if there is none.
      switch: the variant of the device with which its program no longer shows it; `none` if it depends on no setting
        that was tried; empty if that is not known. See `harness.repro.trials.attribution`.
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
    arguments: str = ""
    function: str = ""
    raw_op_only: bool = False
    fixed: str = ""

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
        """The number of places where it can occur: specs × dtypes.

        Ops are no measure: the graph of one program may have dozens of helping ops. Nor are plans: a fault under XLA
        alone is no smaller than one outside XLA, where three modes share their kernels.
        """
        return len(self.specs) * max(1, len(self.dtypes))

    @property
    def loses_alarm(self) -> bool:
        """Whether its example is an ordinary number in place of a NaN, or a value in place of an error."""
        kind, got, want = (str(self.example[name]) for name in ("kind", "got", "want"))
        if self.severity == "special_value":
            return kind == "nan" and "nan" in want and not ("nan" in got or "inf" in got)
        return self.severity == "error" and kind == "status" and want.startswith("error") and got.startswith("value")

    @property
    def rank(self) -> tuple[int | float | str, ...]:
        """The key that sorts discrepancies by the list that this module begins with.

        The number of records is no part. The id makes the order the same in every report.
        """
        order = severity_order(self.severity)
        wide = -self.reach, 1.0 if math.isnan(self.distance) else -self.distance, self.id
        if not self.known:
            return 0, order, 0, 0, 0, 0, 0, 0, *wide
        silent = self.severity in _SILENT or self.loses_alarm
        rare = not COMMON_DTYPES.intersection(self.dtypes)
        of_program = self.arguments == "invalid", self.raw_op_only, rare
        hidden = silent and self.severity != "memory", not self.disagree, not is_common(self.function)
        return 1, 0 if silent else order, *of_program, *hidden, *wide
