"""Explanation: the known failures that explain the kinds of a difference, one kind at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Self

from tf_opdiff.harness.judge.known import Difference, Numbered
from tf_opdiff.harness.judge.severity import SEVERITIES
from tf_opdiff.harness.store.record import Record

_SEVERITIES = tuple(SEVERITIES)


@dataclass(frozen=True)
class Explanation:
    """The entries of known failures that are about a comparison, each with its number.

    Attributes:
      kinds: the kinds of difference that occur, in order; empty for a comparison without a difference.
      here: the entries about the place of the comparison.
      explaining: those of them that expect a kind that occurs, its error code and its distance.
      spent: those of them whose kind or error code does not occur, although they must fail here.
      excusing: the entries about the place of the other plan, if that plan itself is known to fail.
      unseen: like `spent`, of entries that were recorded on processors of another architecture.
    """

    kinds: tuple[str, ...]
    here: tuple[Numbered, ...]
    explaining: tuple[Numbered, ...]
    spent: tuple[Numbered, ...]
    excusing: tuple[Numbered, ...] = ()
    unseen: tuple[Numbered, ...] = ()

    @classmethod
    def of(
        cls,
        difference: Difference,
        here: Iterable[Numbered],
        excusing: Iterable[Numbered] = (),
        *,
        between_plans: bool = False,
        traits: AbstractSet[str] | None = None,
    ) -> Self:
        """The explanation of a difference by entries.

        Args:
          difference: the kinds that occur, the error code of the result, and the distance.
          here: the entries about the place of the comparison.
          excusing: the entries about the place of the other plan.
          between_plans: whether the comparison is with another plan. Its budget is twice as large, so a known failure
            may stay within it, unless the entry names such comparisons.
          traits: those of the device; unknown ones count as those of the processors on which entries were recorded.
        """
        here = tuple(here)
        explaining = tuple(one for one in here if one[1].expects(difference))
        failing = tuple(one for one in here if one[1].expects(difference._replace(max_ulp=math.nan)))
        strict = (one for one in here if not one[1].intermittent and not (between_plans and one[1].against == "*"))
        absent = [one for one in strict if one not in failing]
        spent = tuple(one for one in absent if one[1].recorded_on(traits))
        unseen = tuple(one for one in absent if one not in spent)
        return cls(tuple(difference.kinds), here, explaining, spent, tuple(excusing), unseen)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The kinds that no entry about the place expects."""
        explained = {entry.kind for _, entry in self.explaining}
        return tuple(kind for kind in self.kinds if kind not in explained)

    @property
    def facts(self) -> dict[str, bool]:
        """The facts for `harness.judge.classify`."""
        return {"expected": not self.unexplained, "spent": bool(self.spent), "excused": bool(self.excusing)}

    def explain(self, record: Record) -> Record:
        """The record with the causes of the entries that it names; the first one gives `owner`, `reason` and `link`."""
        causes = [entry.cause for _, entry in self.named(record.verdict)]
        if not causes:
            return record
        first, ids = causes[0], ";".join(dict.fromkeys(cause.id for cause in causes))
        return replace(record, owner=first.owner, reason=first.reason, link=first.link, cause=ids)

    def named(self, verdict: str) -> tuple[Numbered, ...]:
        """The entries that a record with this verdict names, the one with the most severe cause first.

        Entries of equal severity come in the order of the kinds that they expect. A record of a mismatch names the
        entries about its place too, which expect other kinds.
        """
        if verdict == "stale":
            entries = self.spent
        elif not self.kinds:
            entries = ()
        elif verdict == "known":
            entries = self.explaining + self._excusing
        else:
            entries = self.here or self.excusing
        return tuple(sorted(entries, key=self._order))

    @property
    def _excusing(self) -> tuple[Numbered, ...]:
        """The entries about the other plan that name a kind without an explanation here; all if none does."""
        if not self.unexplained:
            return ()
        return tuple(one for one in self.excusing if one[1].kind in self.unexplained) or self.excusing

    def _order(self, one: Numbered) -> tuple[int, int]:
        """The sort key of an entry: its severity, and its kind."""
        cause, kind = one[1].cause, one[1].kind
        severity = _SEVERITIES.index(cause.severity) if cause.severity in _SEVERITIES else len(_SEVERITIES)
        return severity, self.kinds.index(kind) if kind in self.kinds else len(self.kinds)

    def shown(self, verdict: str) -> str:
        """The kind that the record shows: the first that no entry explains, else that of the cause it names first."""
        if self.unexplained and verdict != "known":
            return self.unexplained[0]
        entry = next((entry for _, entry in self.named(verdict) if entry.kind in self.kinds), None)
        return entry.kind if entry else self.kinds[0] if self.kinds else ""
