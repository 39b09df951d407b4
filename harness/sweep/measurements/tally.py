"""Tally: counts and distances of one quantity under one plan in a sweep; tallies of blocks add up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.comparison import Comparison, Element
from tf_opdiff.harness.judge.differences.simplest import first, keys
from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.harness.store.formats.json_text import finite
from tf_opdiff.harness.sweep.measurements.promise import Difference

#: The number of worst inputs in a tally.
WORST = 10
#: In place of a kind: the element is wrong only because a subnormal number was flushed.
FLUSHED = "flushed"


@dataclass
class Tally:
    """Counts over the elements of a sweep.

    `histogram[k]` counts the finite elements that differ from the rounded promise by [2^(k-1), 2^k) ULPs; k = 0 counts
    those below 1 ULP. The remaining elements of `size` equal the rounded promise. `kinds` counts wrong elements by
    kind, or wrong results for a kind that concerns a whole result. `flushed` counts the elements that are wrong only
    because a subnormal number was flushed. `worst` has rows (kind, ULPs, bit pattern, got, want), wrong ones first, and
    at most one flushed one, at the end. `simplest` has (sort key, bit pattern, got, want) of the simplest input of each
    kind; see `harness.judge.differences.simplest`. `code` and `message` belong to an error.
    """

    size: int = 0
    mismatched: int = 0
    flushed: int = 0
    max_ulp: float = math.nan
    max_abs: float = math.nan
    kinds: dict[str, int] = field(default_factory=dict)
    histogram: list[int] = field(default_factory=list)
    worst: list[list[Any]] = field(default_factory=list)
    status: str = "value"
    code: str = ""
    message: str = ""
    simplest: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, other: Self) -> None:
        """Adds the tally of another part of the sweep."""
        for name in ("size", "mismatched", "flushed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("max_ulp", "max_abs"):
            setattr(self, name, float(np.fmax(getattr(self, name), getattr(other, name))))
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        longest = max(len(self.histogram), len(other.histogram))
        pair = (h + [0] * (longest - len(h)) for h in (self.histogram, other.histogram))
        self.histogram = [a + b for a, b in zip(*pair, strict=True)]
        by_pattern = {row[2]: row for row in [*self.worst, *other.worst]}
        rows = sorted(by_pattern.values(), key=lambda row: (_rank(row[0]), -row[1], row[2]))
        firsts = {row[0]: row[2] for row in reversed(rows)}
        wrong = [row for row in rows if row[0] != FLUSHED]
        self.worst = [row for i, row in enumerate(wrong) if i < WORST or firsts[row[0]] == row[2]]
        self.worst += [row for row in rows if row[0] == FLUSHED][:1]
        for kind, simple in other.simplest.items():
            self.simplest[kind] = min(self.simplest.get(kind, simple), simple)
        if other.code or not self.code:
            self.status, self.code, self.message = other.status, other.code, other.message

    def comparison(self, budget: float) -> Comparison:
        """The sweep as one comparison; `index` is the bit pattern of the worst input of a kind."""
        within = Comparison(
            size=self.size,
            mismatched=self.mismatched,
            max_ulp=self.max_ulp,
            max_abs=self.max_abs,
            budget=budget,
            detail=self.message,
        )
        each = [self._of_kind(kind, within) for kind in sorted(self.kinds, key=_rank)]
        return Comparison.joined(each) if each else within

    def _of_kind(self, kind: str, within: Comparison) -> Comparison:
        """The comparison that shows the elements of one kind; `within` has the numbers of all elements."""
        row = next((row for row in self.worst if row[0] == kind), None)
        _, at, *shown = self.simplest.get(kind, (None, None))
        return replace(
            within,
            kind=kind,
            count=self.kinds[kind],
            index=None if row is None else (row[2],),
            got=row[3] if row else "",
            want=row[4] if row else "",
            distance=_distance(row) if row and kind == "value" else "",
            simplest=None if at is None else Element((at,), *shown),
        )

    def to_json(self) -> dict[str, Any]:
        """The tally as JSON-able data; see `from_json`."""
        return finite({k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(self).items()})

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Reads the data of `to_json`."""
        distances = {k: math.nan if row[k] is None else float(row[k]) for k in ("max_ulp", "max_abs")}
        worst = [[kind, float(ulps), *more] for kind, ulps, *more in row["worst"]]
        simplest = {kind: [[*map(float, by)], *more] for kind, (by, *more) in row.get("simplest", {}).items()}
        return cls(**{**row, **distances, "worst": worst, "simplest": simplest})


def _rank(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def _distance(row: list[Any]) -> str:
    """The distance of a worst element in words, without the bound there, which a tally does not have."""
    try:
        return wording.distance(float(row[3]), float(row[4]), row[1], math.nan)
    except ValueError:  # booleans
        return ""


def of_comparison(line: Comparison, size: int, start: int, dtype: str) -> Tally:
    """The tally of `size` elements that are all right, or all wrong for the same reason: an error, a shape, a dtype.

    `start` is the bit pattern of the first input, `dtype` the dtype of the inputs.
    """
    tally = Tally(size=size, max_ulp=line.max_ulp, max_abs=line.max_abs, message=line.detail)
    if line.kind:
        tally.kinds, tally.mismatched = {line.kind: 1}, size
        tally.worst = [[line.kind, 0.0, start, line.got, line.want]]
        tally.simplest = {line.kind: [keys([Bits(dtype, start, start + 1).array()])[0], start, line.got, line.want]}
    return tally


def of_difference(difference: Difference, start: int, dtype: str, step: int = 1) -> Tally:
    """The tally of each `step`-th input of a dtype; the first has the bit pattern `start`."""
    tally = Tally(size=difference.size, max_ulp=difference.max_ulp, max_abs=difference.max_abs)
    tally.histogram = difference.histogram
    found, at, got = difference.found, difference.at, difference.got
    if found is not None and at is not None and got is not None:
        inputs = (start + at * step).astype(f"u{np.dtype(dtype).itemsize}").view(dtype)

        def row(i: int) -> list[Any]:
            return [start + int(at[i]) * step, *wording.pair(got[i], found.rounded[i], found.want[i])]

        def take(kind: str, places: np.ndarray, worst: np.ndarray) -> None:
            tally.worst += [[kind, float(found.ulps[i]), *row(i)] for i in worst.tolist()]
            easy = int(places[first([inputs[places]])])
            tally.simplest[kind] = [keys([inputs[easy : easy + 1]])[0], *row(easy)]

        wrong = found.wrong
        kept = wrong if difference.flushed is None else wrong & ~difference.flushed
        tally.mismatched, tally.flushed = int(kept.sum()), int(wrong.sum() - kept.sum())
        for kind, where in found.classes.items():
            places = np.flatnonzero(where & kept)
            if places.size:
                tally.kinds[kind] = places.size
                worst = places
                if places.size > WORST:
                    worst = places[np.argpartition(-found.ulps[places], WORST)[:WORST]]
                take(kind, places, worst[np.argsort(-found.ulps[worst], kind="stable")])
        if tally.flushed:
            places = np.flatnonzero(wrong & ~kept)
            take(FLUSHED, places, places[:1])
    if not tally.worst and difference.farthest:
        i, *shown = difference.farthest
        tally.worst = [["", difference.max_ulp, start + i * step, *shown]]
    return tally
