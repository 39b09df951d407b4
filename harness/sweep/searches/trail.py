"""Trail: the search for the largest errors of one quantity under one plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.sweep.searches.boxes import Boxes

#: Boxes that are cut again after each round.
KEPT = 24
#: Boxes of a round whose farthest sample gets a promise in wide numbers; of these, the best are cut again.
CANDIDATES = 48
#: The worst inputs of a trail, and the inputs with a wrong class of each kind, that a search holds.
WORST, WRONG = 16, 8

Point = tuple[int, ...]


@dataclass
class Trail:
    """One quantity under one plan.

    Attributes:
      boxes: the boxes to sample next.
      worst: the distances in ULPs of the worst inputs, by place.
      wrong: kind → the places of inputs with a result of a wrong class.
    """

    plan: Plan
    quantity: str
    boxes: Boxes | None = None
    worst: dict[Point, float] = field(default_factory=dict)
    wrong: dict[str, list[Point]] = field(default_factory=dict)

    def farthest(self, owners: np.ndarray, ulps: np.ndarray) -> np.ndarray:
        """The samples with the largest distances, at most one of each box, in descending order.

        `owners` has the number of each sample's box.
        """
        order = np.argsort(-ulps, kind="stable")
        _, first = np.unique(owners[order], return_index=True)
        return order[np.sort(first)][:CANDIDATES]

    def keep(self, boxes: Boxes, owners: np.ndarray, ulps: np.ndarray) -> None:
        """Keeps the boxes of the samples with the largest distances; `owners` are the boxes of these samples."""
        best = np.argsort(-ulps, kind="stable")[:KEPT]
        self.boxes = boxes.chosen(owners[best])

    def add(self, points: np.ndarray, ulps: np.ndarray) -> None:
        """Adds inputs with their distances; keeps the worst."""
        self.worst |= {tuple(p): u for p, u in zip(points.tolist(), ulps.tolist(), strict=True) if u > 0}
        rows = sorted(self.worst.items(), key=lambda row: (-row[1], row[0]))
        self.worst = dict(rows[:WORST])

    def add_wrong(self, kind: str, points: np.ndarray) -> None:
        """Adds inputs with a result of a wrong class, while there is room for their kind."""
        mine = self.wrong.setdefault(kind, [])
        mine += [p for p in map(tuple, points.tolist()) if p not in mine][: WRONG - len(mine)]

    def to_json(self) -> dict[str, Any]:
        """The found inputs as JSON-able data; places are texts, because they need 64 bits."""
        wrong = {kind: [list(map(hex, p)) for p in some] for kind, some in self.wrong.items()}
        worst = [[u, list(map(hex, p))] for p, u in self.worst.items()]
        plan = {"device": str(self.plan.device), "mode": self.plan.mode}
        return {**plan, "quantity": self.quantity, "worst": worst, "wrong": wrong}

    def restore(self, row: Mapping[str, Any]) -> None:
        """Adds the inputs that `to_json` wrote."""
        for ulps, point in row["worst"]:
            self.add(np.array([_point(point)], np.uint64), np.array([float(ulps)]))
        for kind, some in row["wrong"].items():
            self.add_wrong(kind, np.array([_point(p) for p in some], np.uint64))

    @property
    def points(self) -> list[Point]:
        """All inputs of the trail."""
        return [*self.worst, *(p for some in self.wrong.values() for p in some)]


def _point(texts: Sequence[str]) -> Point:
    return tuple(int(text, 16) for text in texts)
