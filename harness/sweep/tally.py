"""Tally: what a sweep has found of one quantity under one plan; tallies of blocks add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from harness.compare import Comparison
from harness.record import KINDS
from harness.sweep.promise import Difference

#: How many of the worst inputs are kept.
WORST = 10


@dataclass
class Tally:
    """Counts over the elements that were swept.

    `histogram[k]` counts finite elements that are not the rounded promise and ULPs in [2^(k-1), 2^k) away, k = 0 below
    one; the rest of `size` equals it. `kinds` counts elements, or blocks where it is a matter of the whole block, that
    are wrong by kind; `flushed` those of subnormal inputs that are right for a flushed input. `worst` has rows
    (kind, ULPs, bit pattern, got, want), wrong ones first. `code` and `message` are those of an error.
    """

    size: int = 0
    blocks: int = 0
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

    def add(self, other: Self) -> None:
        """Takes in what another part of the sweep found."""
        for name in ("size", "blocks", "mismatched", "flushed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("max_ulp", "max_abs"):
            setattr(self, name, float(np.fmax(getattr(self, name), getattr(other, name))))
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        longest = max(len(self.histogram), len(other.histogram))
        pair = (h + [0] * (longest - len(h)) for h in (self.histogram, other.histogram))
        self.histogram = [a + b for a, b in zip(*pair, strict=True)]
        rows = {row[2]: row for row in [*self.worst, *other.worst]}.values()
        self.worst = sorted(rows, key=lambda row: (_rank(row[0]), -row[1], row[2]))[:WORST]
        if other.code or not self.code:
            self.status, self.code, self.message = other.status, other.code, other.message

    @property
    def kind(self) -> str:
        """The first kind, in the order of `KINDS`, that occurred."""
        return min(self.kinds, key=_rank, default="")

    def comparison(self, budget: float) -> Comparison:
        """The sweep as one comparison; `index` is the bit pattern of the worst input."""
        row = next((row for row in self.worst if row[0] == self.kind), None)
        return Comparison(
            kind=self.kind,
            size=self.size,
            mismatched=self.mismatched,
            max_ulp=self.max_ulp,
            max_abs=self.max_abs,
            budget=budget,
            index=None if row is None or not self.kind else (row[2],),
            got=row[3] if row and self.kind else "",
            want=row[4] if row and self.kind else "",
            detail=self.message,
        )

    def to_json(self) -> dict[str, Any]:
        """The tally as JSON-able data; see `from_json`."""
        row = asdict(self)
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The tally that `to_json` was given."""
        values: dict[str, Any] = {k: math.nan if v is None else v for k, v in row.items()}
        return cls(**values)


def _rank(kind: str) -> int:
    return KINDS.index(kind) if kind else len(KINDS)


def of_difference(difference: Difference, start: int, accepted: np.ndarray | None = None) -> Tally:
    """The tally of consecutive inputs, the first of which has the bit pattern `start`.

    `accepted` tells which of the elements that were looked at are right for a flushed input.
    """
    line, found, at, got = difference.comparison, difference.found, difference.at, difference.got
    tally = Tally(size=line.size, blocks=1, max_ulp=line.max_ulp, max_abs=line.max_abs)
    if found is None or at is None or got is None:
        if line.kind:  # shape or dtype
            tally.kinds, tally.mismatched = {line.kind: 1}, line.mismatched
            tally.worst = [[line.kind, 0.0, start, line.got, line.want]]
        return tally
    wrong = found.wrong
    kept = wrong if accepted is None else wrong & ~accepted
    tally.mismatched, tally.flushed = int(kept.sum()), int(wrong.sum() - kept.sum())
    for kind, where in found.classes.items():
        if count := int((where & kept).sum()):
            tally.kinds[kind] = count
            order = np.argsort(np.where(where & kept, found.ulps, -1), kind="stable")[::-1][: min(count, WORST)]
            tally.worst += _rows(kind, order, start, at, got, difference)
    if tally.flushed:
        tally.worst += _rows("subnormal", np.flatnonzero(wrong & ~kept)[:1], start, at, got, difference)
    with np.errstate(invalid="ignore"):  # ml_dtypes says that it met a NaN
        apart = (found.ulps > 0) & (got != found.rounded)
    if apart.any():
        _, exponents = np.frexp(found.ulps[apart])
        tally.histogram = np.bincount(np.maximum(exponents, 0)).tolist()
        if not tally.worst and accepted is None:
            tally.worst = _rows("", [int(np.argmax(found.ulps))], start, at, got, difference)
    return tally


def _rows(
    kind: str, chosen: Sequence[int] | np.ndarray, start: int, at: np.ndarray, got: np.ndarray, difference: Difference
) -> list[list[Any]]:
    found = difference.found
    assert found is not None
    return [
        [kind, float(found.ulps[i]), start + int(at[i]), str(got[i]), str(found.rounded[i])] for i in map(int, chosen)
    ]
