"""Paired records: the records of two runs side by side, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.harness.store.records.record import VERDICTS
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.pairs import common, counterparts
from tf_opdiff.reports.data.run_data.plans import plans

#: The columns that are the same in both records of a pair, or nearly so.
_SHARED = ("suite", "spec", "case", "dtype", "recipe", "device", "mode", "against", "quantity")


@dataclass(frozen=True)
class PairedRecords:
    """The records of two runs side by side.

    Attributes:
      before, after: the records of the two runs.
      old, new: int64 arrays with one number for each pair: the positions in `before` and in `after`, -1 where only the
        other run has such a record.
      codes: the texts of some columns as codes; see `reports.data.figures.pairs.common`.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    old: np.ndarray
    new: np.ndarray
    codes: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def match(cls, before: pd.DataFrame, after: pd.DataFrame) -> Self:
        """The records of `after` in order, each with its counterpart, and then those that only `before` has."""
        before, after = before.reset_index(drop=True), after.reset_index(drop=True)
        partner = counterparts(before, after)
        only_before = np.flatnonzero(np.bincount(partner[partner >= 0], minlength=len(before)) == 0)
        old = np.concatenate([partner, only_before])
        new = np.concatenate([np.arange(len(after)), np.full(len(only_before), -1)])
        codes = {name: common(before[name], after[name]) for name in (*_SHARED, "seed", "verdict", "kind", "kinds")}
        return cls(before, after, old, new, codes)

    def columns(self) -> pd.DataFrame:
        """A row for each pair, with the columns of `reports.analysis.comparisons.changes.diff` that describe its
        records.

        No row is `lost` yet.
        """
        columns: dict[str, Any] = {name: self._either(name) for name in _SHARED}
        columns["plan"] = plans(pd.DataFrame(columns))
        columns["against_before"] = _column(self.codes["against"][0], self.codes["against"][2], self.old)
        for name, allowed in (("verdict", VERDICTS), ("kind", [kind for kind in KINDS if kind])):
            before, after, texts = self.codes[name]
            dtype = pd.CategoricalDtype(["", *allowed])
            columns[f"{name}_before"] = _column(before, texts, self.old).astype(dtype)
            columns[name] = _column(after, texts, self.new).astype(dtype)
        columns |= self._kinds(columns["kind_before"], columns["kind"])
        for name in ("mismatched", "max_ulp", "max_abs", "budget"):
            columns[f"{name}_before"] = _numbers(self.before[name], self.old)
            columns[name] = _numbers(self.after[name], self.new)
        columns["inputs_changed"] = self._inputs_changed()
        columns["reason"], columns["simple"] = self._reasons(), self._simplicity()
        return pd.DataFrame(columns | {"lost": False, "before": self.old, "after": self.new})

    def _kinds(self, kind_before: pd.Series, kind: pd.Series) -> dict[str, pd.Series]:
        """All kinds of each pair's records; the shown kinds where one of the two is of an earlier version."""
        before, after, texts = self.codes["kinds"]
        sides = (before, self.old, kind_before.astype("str")), (after, self.new, kind.astype("str"))
        every = [_column(codes, texts, position).astype("str") for codes, position, _ in sides]
        lacking = np.logical_or.reduce(
            [
                (kinds == "").to_numpy() & (shown != "").to_numpy()
                for kinds, (*_, shown) in zip(every, sides, strict=True)
            ]
        )
        names = ("kinds_before", "kinds")
        shown = (one for *_, one in sides)
        return {
            name: kinds.mask(lacking, one).astype("category")
            for name, kinds, one in zip(names, every, shown, strict=True)
        }

    def _either(self, name: str) -> pd.Series:
        """The text of the record of after or, where it has none, of before."""
        old, new, texts = self.codes[name]
        return _texts(np.where(self.new >= 0, np.append(new, -1)[self.new], np.append(old, -1)[self.old]), texts)

    def _reasons(self) -> pd.Series:
        """The reason of the entry by which the record of after is known or, if it is not, that of before was."""
        sides = []
        for frame, position in ((self.before, self.old), (self.after, self.new)):
            reason = frame["reason"].astype("str").where(frame["verdict"].isin(["known", "stale"]), "").to_numpy(object)
            sides.append(np.append(reason, "")[position])
        return pd.Series(np.where(sides[1] != "", sides[1], sides[0])).astype("category")

    def _simplicity(self) -> np.ndarray:
        """Numbers that sort pairs by their examples, the simplest input first: that of after or, if none, of before."""
        frames = self.before, self.after
        examples = pd.concat([frame[["example"]].astype("str") for frame in frames], ignore_index=True)
        rank, split = tables.simplicity(examples).to_numpy(), len(self.before)
        last = rank.max(initial=0)
        return np.minimum(np.append(rank[:split], last)[self.old], np.append(rank[split:], last)[self.new])

    def _inputs_changed(self) -> np.ndarray:
        """Whether the inputs of a pair's records differ, as far as records show; False where one run has no record."""
        both = np.flatnonzero((self.old >= 0) & (self.new >= 0))
        before, after, old, new = self.before, self.after, self.old[both], self.new[both]
        sides = (before, old), (after, new)
        differ = np.zeros(len(both), bool)
        for name in ("seed", "dtype", "recipe"):
            codes_before, codes_after, _ = self.codes[name]
            differ |= codes_before[old] != codes_after[new]
        sizes = [frame["size"].to_numpy()[position] for frame, position in sides]
        shaped = [frame["kind"].isin(["", "value"]).to_numpy()[position] for frame, position in sides]
        differ |= (sizes[0] != sizes[1]) & (sizes[0] > 0) & (sizes[1] > 0) & shaped[0] & shaped[1]
        shown = np.flatnonzero((before["input"] != "").to_numpy()[old] & (after["input"] != "").to_numpy()[new])
        indices, inputs = (
            [frame[name].iloc[position[shown]].to_numpy(object) for frame, position in sides]
            for name in ("worst_index", "input")
        )
        differ[shown] |= (indices[0] == indices[1]) & (inputs[0] != inputs[1])
        changed = np.zeros(len(self.old), bool)
        changed[both] = differ
        return changed


def _column(codes: np.ndarray, names: np.ndarray, positions: np.ndarray) -> pd.Series:
    """The texts at these positions as a category; empty where the position is -1."""
    return _texts(np.append(codes, -1)[positions], names)


def _texts(codes: np.ndarray, names: np.ndarray) -> pd.Series:
    """The texts of these codes as a category of those that occur; empty where the code is -1."""
    present = np.flatnonzero(np.bincount(codes + 1, minlength=1))
    ids, texts = pd.factorize(np.array([names[c - 1] if c else "" for c in present], dtype=object))
    id_of_code = np.zeros(len(names) + 1, np.int64)
    id_of_code[present] = ids
    return pd.Series(pd.Categorical.from_codes(id_of_code[codes + 1], categories=pd.Index(texts, dtype="str")))


def _numbers(column: pd.Series, positions: np.ndarray) -> np.ndarray:
    missing = 0 if column.dtype.kind == "i" else np.nan
    return np.append(column.to_numpy(), missing)[positions]  # position -1 takes the last element, which is `missing`
