"""Processor: the traits of processors on which the known failures were measured, and the judgement on any other one.

On a processor with other traits a known failure may be absent, farther off, or reach other dtypes and recipes. An entry
that does not fail there is not stale, and a failure in the region of a known cause is probably of that cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from tf_opdiff.harness.judge.known_failures.entry import Difference, Entry
from tf_opdiff.harness.judge.known_failures.explanation import Explanation
from tf_opdiff.harness.judge.known_failures.known import Numbered
from tf_opdiff.harness.judge.known_failures.selectors import EVERY
from tf_opdiff.harness.spec.kinds import MEASURED
from tf_opdiff.harness.spec.settings.trait import TRAITS
from tf_opdiff.harness.spec.similar import unknown


class Processor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A processor on which all known failures were measured; `name` is for people, `traits` are all that it has."""

    name: str
    traits: list[str]

    def check(self) -> None:
        """Checks the fields.

        Raises:
          LookupError: a trait does not exist.
          ValueError: there is no name.
        """
        if not self.name.strip():
            raise ValueError("expected the name of the processor")
        for trait in self.traits:
            if trait not in TRAITS:
                raise LookupError(unknown("trait", trait, set(TRAITS)))


def on_another_processor(explanation: Explanation, difference: Difference, related: Iterable[Numbered]) -> Explanation:
    """The explanation of a difference on a processor that was not measured.

    Args:
      explanation: the explanation by the entries about the place.
      difference: the kinds that occur, with their elements.
      related: the entries that `relaxed` makes be about the place.

    Raises:
      RegionError: the region of an entry is not about the elements of this result.
    """
    absent, explanation = explanation.spent, replace(explanation, spent=())
    probable = [(n, e) for n, e in related if e.kind in explanation.unexplained and e.expects(difference)]
    if explanation.unexplained and probable:
        wider = Explanation.of(difference, (*explanation.here, *probable), explanation.excusing, between_plans=True)
        explanation = replace(wider, spent=(), probable=True)
    return replace(explanation, absent=absent)


def relaxed(entry: Entry, kind: str) -> Entry | None:
    """An entry about every dtype, recipe and trait, and about any distance; of this kind if both have a distance."""
    if entry.kind != kind and not (entry.kind in MEASURED and kind in MEASURED):
        return None
    wide = {"kind": kind, "dtype": EVERY, "attrs": EVERY, "recipe": EVERY, "trait": EVERY, "unless": "", "within": ""}
    return msgspec.structs.replace(entry, **wide)
