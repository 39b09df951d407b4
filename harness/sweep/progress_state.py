"""Swept: what is known of one plan, from the lines of the shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.sweep.tally import Tally

Key = tuple[str, str]  # recipe, quantity


@dataclass
class Swept:
    """What is known of one plan: the blocks that are done, the tallies, and what the last observation said."""

    blocks: set[int] = field(default_factory=set)
    tallies: dict[Key, Tally] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, line: Mapping[str, Any]) -> None:
        """Takes in a block's line of the shard."""
        if line["lo"] in self.blocks:
            return
        self.blocks.add(line["lo"])
        self.seconds += line["seconds"]
        if not self.about.get("fault"):  # a run that proves nothing in one block is not mended by the next
            self.about = dict(line["about"])
        for recipe, quantity, row in line["tallies"]:
            self.tallies.setdefault((recipe, quantity), Tally()).add(Tally.from_json(row))
