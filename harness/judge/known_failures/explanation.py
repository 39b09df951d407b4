"""Explanation: the known failures that explain the kinds of a difference, one kind at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from tf_opdiff.harness.judge.known_failures.entry import Difference, Entry
from tf_opdiff.harness.judge.known_failures.known import Numbered
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.store.records.record import Record

_SEVERITIES = tuple(SEVERITIES)
#: The elements that a plan is known to get wrong: a mask; True for all of them; None if nobody has looked.
Excused = np.ndarray | bool | None


@dataclass(frozen=True)
class Explanation:
    """The entries of known failures that are about a comparison, each with its number.

    Attributes:
      kinds: the kinds of difference that occur, in order; empty for a comparison without a difference.
      here: the entries about the place of the comparison.
      explaining: those of them that expect a kind that occurs, its error code and its distance.
      masks: the elements that each of `explaining` explains, a bool array; True where they are not at hand.
      spent: those of them whose kind or error code does not occur, although they must fail here.
      excusing: the entries about the place of the other plan, if that plan itself is known to fail.
      outside: the kinds with elements that neither `explaining` nor a failure of the other plan explains, each with the
        number of these elements; 0 where the elements are not at hand.
      fault: the reason why the region of an entry can't be applied to the result.
      absent: the entries that would be spent on a processor that was measured; see
        `harness.judge.known_failures.processor`.
      probable: whether entries explain the difference that were measured on other processors, or for other inputs.
    """

    kinds: tuple[str, ...]
    here: tuple[Numbered, ...]
    explaining: tuple[Numbered, ...]
    spent: tuple[Numbered, ...]
    excusing: tuple[Numbered, ...] = ()
    outside: Mapping[str, int] = field(default_factory=dict)
    fault: str = ""
    absent: tuple[Numbered, ...] = ()
    probable: bool = False
    masks: tuple[np.ndarray | bool, ...] = ()

    @classmethod
    def of(
        cls,
        difference: Difference,
        here: Iterable[Numbered],
        excusing: Iterable[Numbered] = (),
        *,
        between_plans: bool = False,
        excused: Excused = None,
    ) -> Self:
        """The explanation of a difference by entries.

        Args:
          difference: the kinds that occur, the error code of the result, and the distance.
          here: the entries about the place of the comparison.
          excusing: the entries about the place of the other plan.
          between_plans: whether the comparison is with another plan. Its budget is twice as large, so a known failure
            may stay within it, unless the entry names such comparisons.
          excused: the elements that one of the two plans is known to get wrong against its promise. None if that was
            not compared; then entries about the other plan excuse every kind.

        Raises:
          RegionError: the region of an entry is not about the elements of this result.
        """
        here, excusing = tuple(here), tuple(excusing)
        each = [(one, one[1].explains(difference)) for one in here]
        explaining = [(one, mask) for one, mask in each if np.any(mask)]
        spent = tuple(
            one
            for one, mask in each
            if not (between_plans and one[1].against == "*")
            and not _fails(one[1], difference, mask)
            and one[1].must_fail(difference)
        )
        if any(entry.intermittent or entry.kind in NO_ANSWER for (_, entry), _ in explaining):
            spent = ()  # a process that ended, or whose memory is destroyed, shows no other failure
        if excused is None:
            excused = bool(excusing)
        counts = {kind: _unexplained(kind, difference, explaining, excused) for kind in difference.kinds}
        outside = {kind: count for kind, count in counts.items() if count is not None}
        entries, masks = tuple(one for one, _ in explaining), tuple(mask for _, mask in explaining)
        return cls(tuple(difference.kinds), here, entries, spent, excusing, outside, masks=masks)

    def explained(self, shape: tuple[int, ...]) -> np.ndarray | bool:
        """The elements that `explaining` explains: a bool array of this shape; True if a whole result is one failure.

        No element if the region of an entry can't be applied.
        """
        union = np.zeros(shape, bool)
        for mask in self.masks:
            if isinstance(mask, bool) or mask.shape != shape:
                return True
            union |= mask
        return union

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The kinds with elements that neither an entry about the place nor the other plan explains."""
        return tuple(self.outside)

    @property
    def facts(self) -> dict[str, bool]:
        """The facts for `harness.judge.verdicts.classify`."""
        excused = bool(self.excusing) and not self.unexplained
        return {"expected": not self.unexplained, "spent": bool(self.spent), "excused": excused}

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
            entries = self.explaining + self._excusing or self.here
        else:
            entries = self.here or self.excusing
        return tuple(sorted(entries, key=self._order))

    @property
    def _excusing(self) -> tuple[Numbered, ...]:
        """The entries about the other plan that name a kind without an explanation here; all if none does."""
        left = set(self.kinds) - {entry.kind for _, entry in self.explaining}
        if not left:
            return ()
        return tuple(one for one in self.excusing if one[1].kind in left) or self.excusing

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


def _fails(entry: Entry, difference: Difference, mask: np.ndarray | bool) -> bool:
    """Whether a failure of the entry's kind occurs, at any distance if the elements are not at hand."""
    return bool(np.any(mask)) or (entry.kind not in difference.elements and entry.occurs(difference))


def _unexplained(
    kind: str,
    difference: Difference,
    explaining: Sequence[tuple[Numbered, np.ndarray | bool]],
    excused: np.ndarray | bool,
) -> int | None:
    """The number of elements of a kind that nothing explains; 0 if they are not at hand, None if all are explained."""
    of_kind = [mask for (_, entry), mask in explaining if entry.kind == kind]
    elements = difference.elements.get(kind)
    if elements is None:
        return None if of_kind or excused is True else 0
    rest = elements.wrong[kind]
    for mask in of_kind:
        rest = rest & ~np.asarray(mask)
    if isinstance(excused, bool) or excused.shape == rest.shape:
        rest = rest & ~np.asarray(excused)
    return int(rest.sum()) or None
