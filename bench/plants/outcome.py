"""Outcome: the answer of an analysis about a plant, and the table of several."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """The answer of an analysis about a plant.

    Attributes:
      id: the plant's.
      kind, op, place, setting: the words of the answer.
      right: aspect → whether it is right; aspects that the plant leaves open are absent.
      seconds: how long it took.
    """

    id: str
    kind: str
    op: str
    place: str
    setting: str
    causes: str
    right: dict[str, bool]
    seconds: float


def summary(outcomes: Iterable[Outcome]) -> Iterator[dict[str, object]]:
    """A row for each group, and one for all faults: how many analyses are right, by aspect."""
    groups = defaultdict[str, list[Outcome]](list)
    for one in outcomes:
        groups[one.id.partition("/")[0]].append(one)
    faults = [one for name, each in groups.items() if name != "clean" for one in each]
    for name, each in [*groups.items(), ("all faults", faults)]:
        counts = Counter(aspect for one in each for aspect in one.right)
        right = Counter(aspect for one in each for aspect, is_right in one.right.items() if is_right)
        cells = {
            aspect: f"{right[aspect]} of {counts[aspect]}" if counts[aspect] else ""
            for aspect in ("op and layer", "kind", "setting", "known")
        }
        yield {
            "group": name,
            "plants": len(each),
            **cells,
            "longest, s": max((one.seconds for one in each), default=0.0),
        }


def read(files: Iterable[Path]) -> list[Outcome]:
    """The outcomes in files; of a plant that has several, the last one."""
    each = (Outcome(**json.loads(line)) for file in files for line in file.read_text().splitlines())
    return [*{one.id: one for one in each}.values()]
