"""Search: looks for the inputs with the largest errors, by sampling parts of the space and cutting the worst ones.

A descent begins with samples of equal parts of all bit patterns, and around special points. It keeps the parts with the
largest errors, cuts them, samples these parts, and so on until a part is one number. Each further descent has another
seed. The method is that of Brian Gladman, Vincenzo Innocente, John Mather and Paul Zimmermann, Accuracy of Mathematical
Functions in Single, Double, Double Extended, and Quadruple Precision, https://members.loria.fr/PZimmermann/papers/.

The result is a sample: the largest error found is a lower bound of the largest error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import SEARCH, Case
from tf_opdiff.harness.store.shards import read_lines
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep.searches.boxes import Boxes, places_of
from tf_opdiff.harness.sweep.searches.search_oracle import Space, promises
from tf_opdiff.harness.sweep.searches.search_results import Results
from tf_opdiff.harness.sweep.searches.special_points import points as special_points
from tf_opdiff.harness.sweep.searches.trail import KEPT, Trail

#: The modes whose errors lead the search; the other modes run the worst inputs only.
LEADING = MODE_FAMILIES
#: Inputs of a round: the largest number that the references compute in so many seconds, between these powers of two.
SECONDS, LEAST, MOST = 0.5, 9, 16
#: Samples of each part; rounds until a descent ends although parts have more than one number.
SAMPLES, ROUNDS = 4, 24


@dataclass
class Search:
    """The search of one spec, dtype and label of `attrs` under some plans, in some descents."""

    item: Item
    plans: Sequence[Plan]
    descents: int
    attrs: str = ""
    size: int = 0
    tried: int = 0
    guide: float = 0.0
    trails: dict[tuple[Plan, str], Trail] = field(default_factory=dict)
    lost: dict[Plan, Observation] = field(default_factory=dict)
    _done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.plans = [p for p in self.plans if self.item.spec.runs_under(p)]
        leading = [p for p in self.plans if p.mode in LEADING]
        self.leading = leading or self.plans
        self.space = Space.of(self.case)

    @property
    def case(self) -> Case:
        """The case of the search."""
        return Case(self.item.spec, self.item.dtype, SEARCH, self.attrs)

    def resume(self, shard: Path) -> None:
        """Adds the descents that an earlier process recorded."""
        mine = {"spec": self.item.spec.name, "dtype": self.item.dtype, "attrs": self.attrs}
        plans = {(str(p.device), p.mode): p for p in self.leading}
        for line in read_lines.read(shard) if shard.exists() else ():
            if line and line["line"] == "descent" and mine == {name: line[name] for name in mine}:
                self._done.add(line["descent"])
                self.size, self.guide = line["size"], max(self.guide, float(line["guide"]))
                self.tried += line["tried"]
                for row in line["trails"]:
                    if plan := plans.get((row["device"], row["mode"])):
                        self._trail(plan, row["quantity"]).restore(row)

    @property
    def left(self) -> int:
        """The number of descents still to run."""
        return self.descents - len(self._done & set(range(self.descents)))

    def run(self, servers: Mapping[Device, DeviceServer], shard: Shard, step: Callable[[int], None]) -> None:
        """Runs the remaining descents; calls `step` with 1 after each."""
        self.size = self.size or self._affordable()
        points = special_points(self.item.spec, self.item.dtype, self.attrs, len(self.space.box.lo[0]))
        for descent in sorted(set(range(self.descents)) - self._done):
            began = time.monotonic()
            tried = self._descend(servers, descent, points)
            self.tried += tried
            self._done.add(descent)
            about = {"spec": self.item.spec.name, "dtype": self.item.dtype, "attrs": self.attrs, "descent": descent}
            trails = [trail.to_json() for trail in self.trails.values()]
            seconds = time.monotonic() - began
            shard.write(
                "descent", **about, size=self.size, tried=tried, guide=self.guide, seconds=seconds, trails=trails
            )
            step(1)

    def _affordable(self) -> int:
        """The number of inputs of a round: as many as the references compute in `SECONDS`."""
        rng = np.random.default_rng(self.case.seed)
        inputs = self.space.inputs(self.space.box.sample(rng, 64)[1])
        sides = {self.item.spec.side(plan) for plan in self.leading} or {None}
        began = time.monotonic()
        for side in sides:
            promises(self.case, inputs, side, estimates=True)
        each = (time.monotonic() - began) / 64
        return 1 << int(np.clip(np.log2(SECONDS / each), LEAST, MOST))

    def _descend(self, servers: Mapping[Device, DeviceServer], descent: int, special: np.ndarray) -> int:
        """One descent; returns the number of inputs tried."""
        rng = np.random.default_rng([self.case.seed, descent])
        boxes = self.space.box.cut(self.size // 2 // SAMPLES).joined(self._around(special, rng))
        owners, points = boxes.sample(rng, self.size)
        results = self._results(servers, points)
        for plan, quantity in results.quantities:
            _settle(self._trail(plan, quantity), boxes, owners, slice(None), results)
        rounds = 1
        while rounds < ROUNDS and (trails := [t for t in self.trails.values() if t.boxes and t.boxes.widest]):
            share = self.size // len(trails)
            parts = [t.boxes.cut(share // SAMPLES // KEPT) for t in trails if t.boxes]
            samples = [one.sample(rng, share) for one in parts]
            padding = self.size - share * len(trails)  # the size of a round is that of the built programs
            results = self._results(servers, np.concatenate([p for _, p in samples] + [samples[0][1][:padding]]))
            for n, (trail, one, (owners, _)) in enumerate(zip(trails, parts, samples, strict=True)):
                if (trail.plan, trail.quantity) in results.quantities:
                    _settle(trail, one, owners, slice(n * share, (n + 1) * share), results)
            rounds += 1
            self.guide = max(self.guide, results.guide)
        return rounds * self.size

    def _around(self, special: np.ndarray, rng: np.random.Generator) -> Boxes:
        """Boxes of all sizes around special points, as many as half of a round samples."""
        count = self.size // 2 // SAMPLES
        near = places_of(special)[rng.permutation(len(special))[np.arange(count) % len(special)]]
        bits = np.log2(float(self.space.box.widest)) - 8
        radii = np.exp2(rng.uniform(-4.0, bits, (count, 1))).astype(np.uint64)  # 0: the point itself
        return self.space.box.around(near, np.broadcast_to(radii, near.shape))

    def _trail(self, plan: Plan, quantity: str) -> Trail:
        return self.trails.setdefault((plan, quantity), Trail(plan, quantity))

    def _results(self, servers: Mapping[Device, DeviceServer], points: np.ndarray) -> Results:
        """The results of a round under the leading plans."""
        results = Results(self.case, self.space.inputs(points), points)
        plans = [plan for plan in self.leading if plan not in self.lost]
        results.run(self.item, plans, servers)
        self.lost |= results.lost
        return results

    def worst(self, servers: Mapping[Device, DeviceServer]) -> Results:
        """The results of the found inputs under all plans; with one input from anywhere if none was found."""
        found = dict.fromkeys(p for trail in self.trails.values() for p in trail.points)
        points = np.array(list(found) or [self.space.box.lo[0]], np.uint64)
        whole = points[np.arange(self.size) % len(points)]  # the same shape: no program is built anew
        results = Results(self.case, self.space.inputs(whole), whole)
        results.run(self.item, self.plans, servers)
        results.observations |= self.lost
        return results.first(len(points))


def _settle(trail: Trail, boxes: Boxes, owners: np.ndarray, rows: slice, results: Results) -> None:
    """Keeps the best boxes of a trail, and the inputs with the largest errors or a wrong class, of its rows."""
    ulps, kinds = results.distances(trail.plan, trail.quantity)
    best = trail.farthest(owners, ulps[rows])
    at = np.arange(len(ulps))[rows][best]
    certain = results.certain(trail.plan, trail.quantity, at)
    trail.keep(boxes, owners[best], certain)
    trail.add(results.points[at], certain)
    for kind, where in kinds.items():
        if where[rows].any():
            trail.add_wrong(kind, results.points[rows][where[rows]])
