"""Claim words: the verdict on a claim in a word for readers, under each plan and as a whole.

The rule, first for one plan, then for the claim:

- The records of a plan give its verdict, and the verdict its word: `confirmed`, `false`, `true in some cases only`.
- A false claim that an older TensorFlow bore out there is `true then, not now`.
- Where XLA refuses to compile the program (every record that refutes is such an error, `REFUSALS`), and where no
  program of the claim has the mode, the claim `cannot be expressed there`.
- A claim can state a word for such a plan in data (`Claim.words`), where the records cannot show it.
- The word on the claim is that of its plans, without those that cannot express it. If they differ by mode, by device,
  or neither, the claim is true in some modes, on some devices, or in some cases only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from tf_opdiff.harness.spec.claim import INEXPRESSIBLE, TRUE_THEN
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import REFUTING
from tf_opdiff.reports.data.run_data.plans import mode_order
from tf_opdiff.reports.text.verdicts import BY_CASE, BY_DEVICE, BY_MODE, CLAIM_WORD_OF, FALSE, NOT_RUN

#: What TensorFlow gives in place of a value if XLA refuses to compile a program.
REFUSALS = ("error INVALID_ARGUMENT", "error UNIMPLEMENTED")
_WRONG = (FALSE, TRUE_THEN)


@dataclass(frozen=True)
class Words:
    """The words on one claim.

    Attributes:
      own: this run's verdicts on it: rows of `claim_verdicts.verdicts`.
      older: verdicts that can show that the claim once held: this run's, and those of other runs.
      refused: (device type, mode) where XLA refuses the claim's programs.
      parts: the entries of claims.json about the claim.
    """

    own: Sequence[Mapping[str, Any]]
    older: Mapping[tuple[str, str], Sequence[str]]
    refused: frozenset[tuple[str, str]]
    parts: Sequence[Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        own: Sequence[Mapping[str, Any]],
        others: Sequence[Mapping[str, Any]],
        records: Iterable[Mapping[str, Any]],
        parts: Sequence[Mapping[str, Any]],
    ) -> Self:
        """The words from this run's verdicts, those of other runs, and this run's records about one claim."""
        older: dict[tuple[str, str], list[str]] = {}
        for row in (*own, *others):
            if row["verdict"] == "confirmed":
                older.setdefault((device_type(row["device"]), row["mode"]), []).append(row["tf"])
        return cls(own, older, _refused(records), parts)

    def of_plan(self, tf: str, device: str, mode: str, verdict: str) -> str:
        """The word for the verdict of one version under one plan; the verdict itself if no word stands for it."""
        place = device_type(device), mode
        if verdict != "refuted":
            return CLAIM_WORD_OF.get(verdict, verdict)
        if place in self.refused:
            return INEXPRESSIBLE
        stated = {_stated(part, *place) for part in self.parts if mode in part["modes"]}
        if len(stated) == 1 and (word := stated.pop()):
            return word
        was_true = any(version_order(before) < version_order(tf) for before in self.older.get(place, ()))
        return TRUE_THEN if was_true else FALSE

    @property
    def other_modes(self) -> list[str]:
        """The modes that no program of the claim has."""
        present = {mode for part in self.parts for mode in part["modes"]}
        return [mode for mode in MODES if mode not in present]

    def whole(self) -> tuple[str, str]:
        """The word on the claim with the newest TensorFlow of the run, and how to show it: with the modes in it."""
        newest = max((row["tf"] for row in self.own), key=version_order, default="")
        by_plan = {
            (device_type(r["device"]), r["mode"]): self.of_plan(newest, r["device"], r["mode"], r["verdict"])
            for r in self.own
            if r["tf"] == newest
        }
        telling = {place: word for place, word in by_plan.items() if word not in (INEXPRESSIBLE, "unavailable")}
        distinct = set(telling.values()) or set(by_plan.values()) or {NOT_RUN}
        if len(distinct) == 1 or "faulty" in distinct:
            word = "faulty" if "faulty" in distinct else distinct.pop()
            return word, word
        return _mixed({place: word not in _WRONG for place, word in telling.items()}, distinct)


def _mixed(holds: Mapping[tuple[str, str], bool], distinct: set[str]) -> tuple[str, str]:
    """The word on a claim with different words under its plans; `holds` says where it is true."""
    if distinct <= set(_WRONG):
        return FALSE, FALSE
    if BY_CASE in distinct:
        return BY_CASE, BY_CASE
    for part, word, text in ((1, BY_MODE, "true in {} only"), (0, BY_DEVICE, "true on {} only")):
        if len({(place[part], true) for place, true in holds.items()}) == len({place[part] for place in holds}):
            names = dict.fromkeys(place[part] for place, true in holds.items() if true)
            return word, text.format(", ".join(sorted(names, key=mode_order) if part else names))
    return BY_CASE, BY_CASE


def _stated(part: Mapping[str, Any], device: str, mode: str) -> str:
    """The word that a claim states for a plan: that of the first pattern of `refuted` that selects the plan."""
    for pattern in part["refuted"]:
        if matches(pattern, device, mode):
            return str(part.get("words", {}).get(pattern, ""))
    return ""


def _refused(records: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """Where XLA refuses the programs: every record that refutes the claim there is such an error."""
    refuting = [row for row in records if row["mode"] == "xla" and row["verdict"] in REFUTING]
    places = {(device_type(row["device"]), row["mode"]) for row in refuting}
    other = [row for row in refuting if not (row["kind"] == "status" and row["got"] in REFUSALS)]
    return frozenset(places - {(device_type(row["device"]), row["mode"]) for row in other})


def matches(pattern: str, device: str, mode: str) -> bool:
    """Whether a pattern `DEVICE_TYPE/MODE` selects a plan; `device` is the type of its device."""
    of_device, _, of_mode = pattern.partition("/")
    return of_device in ("*", device) and of_mode in ("*", mode)


@cache
def device_type(device: str) -> str:
    """The type of a device by its name in records: `cpu` for `cpu+noonednn` and for `cpu@2.18.1`."""
    return re.split("[:+@]", device)[0]


def version_order(text: str) -> tuple[list[int], str]:
    """The key that sorts versions, which may be any text."""
    return [int(n) for n in re.findall(r"\d{1,18}", text)], text
