"""Progress state: the blocks and tallies of one plan, read from the lines of the shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.sweep.measurements.tally import Tally

Key = tuple[str, str]  # recipe, quantity


@dataclass
class Swept:
    """The finished blocks of one plan, their tallies and error profiles, and the facts of the last observation."""

    blocks: set[int] = field(default_factory=set)
    tallies: dict[Key, Tally] = field(default_factory=dict)
    errors: dict[Key, ErrorProfile] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, line: Mapping[str, Any]) -> None:
        """Adds the block of a shard's line, unless it is already included."""
        if line["lo"] in self.blocks:
            return
        self.blocks.add(line["lo"])
        self.seconds += line["seconds"]
        if not self.about.get("fault"):  # a fault of one block holds for the whole sweep
            self.about = dict(line["about"])
        for recipe, quantity, row in line["tallies"]:
            self.tallies.setdefault((recipe, quantity), Tally()).add(Tally.from_json(row))
        for recipe, quantity, row in line.get("profiles", ()):
            profile, key = ErrorProfile.from_json(row), (recipe, quantity)
            self.errors[key] = self.errors[key] + profile if key in self.errors else profile
