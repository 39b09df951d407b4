"""Changes: what became of each record from one run to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.record import FAILING, KINDS, VERDICTS
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.pairs import common, counterparts, plans

CHANGES = ("new", "changed", "fixed", "drifted", "appeared", "disappeared", "unchanged")
#: Verdicts that say that TensorFlow, or the suite, is not as it should be.
BAD = (*FAILING, "known")
#: A distance has drifted where it moved by more than one rounding can move it, and by more than a tenth of itself (the
#: last digits of a large one mean nothing); or where it uses a quarter more, or less, of its budget.
ULP, TENTH, QUARTER = 0.5, 0.1, 0.25
_SAME = ("suite", "spec", "case", "dtype", "recipe", "device", "mode", "against", "quantity")


def diff(
    before: pd.DataFrame, after: pd.DataFrame, *, ulp: float = ULP, not_run: pd.DataFrame | None = None
) -> pd.DataFrame:
    """What became of each record: one row for each of `after`, in order, and then for each that only `before` has.

    A record is a case × device × mode × what it is held against × quantity; see `reports.pairs`.

    Columns:
      change: category. `new`: fails or is known now, and was neither; `fixed`: the other way round, and tested;
        `changed`: of another verdict or kind otherwise; `drifted`: verdict, kind and inputs alike, but `max_ulp` moved
        (see `ULP`); `appeared` and `disappeared`: there is no counterpart; `unchanged`.
      worse: bool. What is new, what fails in another way (unless its verdict is milder now), what was tested and is
        unavailable, a failure that is farther off, what appeared and fails, what was planned and has no result now.
      suite, spec, case, dtype, recipe, device, mode, against, quantity, plan: category; those of `after` where it has
        any.
      against_before: category; differs where the plan was held against another one.
      verdict_before, verdict, kind_before, kind: category; empty where there is no such record.
      mismatched_before, mismatched: int64, elements. max_ulp_before, max_ulp, budget_before, budget: float64, ULPs.
      max_abs_before, max_abs: float64.
      inputs_changed: bool. Seed, dtype, recipe, number of elements, or the input at the same index differ, so distances
        are not held against each other.
      reason: category. That of the entry by which the record of `after`, or else that of `before`, is known.
      simple: int64. What sorts the records by their examples, the simplest input first.
      lost: bool. It was planned in `after`'s run and has no result.
      before, after: int64. The positions of the records; -1 where there is none.

    Args:
      before: the records of a run, as `reports.load` gives them.
      after: those of the other one.
      ulp: by how many ULPs a distance may move before it counts as drifted.
      not_run: `reports.tables.not_run` of the run of `after`.
    """
    pairs = _Pairs.of(before, after)
    found = _described(pairs)
    found.loc[_lost(found, not_run), "lost"] = True
    found.insert(0, "change", _changes(found, ulp))
    found.insert(1, "worse", _worse(found))
    return found


@dataclass(frozen=True)
class _Pairs:
    """The records of two runs side by side.

    `old` and `new` are int64 arrays of as many numbers as there are pairs: the positions in `before` and in `after`, -1
    where only the other run has such a record. `codes` are the texts of some columns; see `reports.pairs.common`.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    old: np.ndarray
    new: np.ndarray
    codes: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, before: pd.DataFrame, after: pd.DataFrame) -> Self:
        """The records of `after` in order, each with its counterpart, and then those that only `before` has."""
        before, after = before.reset_index(drop=True), after.reset_index(drop=True)
        at = counterparts(before, after)
        gone = np.flatnonzero(np.bincount(at[at >= 0], minlength=len(before)) == 0)
        old = np.concatenate([at, gone])
        new = np.concatenate([np.arange(len(after)), np.full(len(gone), -1)])
        codes = {name: common(before[name], after[name]) for name in (*_SAME, "seed", "verdict", "kind")}
        return cls(before, after, old, new, codes)


def _described(pairs: _Pairs) -> pd.DataFrame:
    """A row for each pair, with the columns of `diff` that say what its records are; none is `lost` yet."""
    codes, old, new = pairs.codes, pairs.old, pairs.new
    made: dict[str, Any] = {name: _either(pairs, name) for name in _SAME}
    made["plan"] = plans(pd.DataFrame(made))
    made["against_before"] = _column(codes["against"][0], codes["against"][2], old)
    for name, allowed in (("verdict", VERDICTS), ("kind", [k for k in KINDS if k])):
        one, other, names = codes[name]
        dtype = pd.CategoricalDtype(["", *allowed])
        made[f"{name}_before"], made[name] = (
            _column(c, names, at).astype(dtype) for c, at in ((one, old), (other, new))
        )
    for name in ("mismatched", "max_ulp", "max_abs", "budget"):
        made[f"{name}_before"], made[name] = _numbers(pairs.before[name], old), _numbers(pairs.after[name], new)
    made["inputs_changed"] = _inputs_changed(pairs)
    made["reason"], made["simple"] = _reasons(pairs), _simple(pairs)
    return pd.DataFrame(made | {"lost": False, "before": old, "after": new})


def _lost(found: pd.DataFrame, not_run: pd.DataFrame | None) -> np.ndarray:
    """The positions of the rows that only the earlier run has, and whose cells are among those that did not run."""
    only = np.flatnonzero(found["after"] < 0)
    if not_run is None or not len(not_run):
        return only[:0]
    cell = ["case", "device", "mode"]
    wanted = pd.MultiIndex.from_frame(not_run[cell].astype(str))
    return only[pd.MultiIndex.from_frame(found.iloc[only][cell].astype(str)).isin(wanted)]


def _reasons(pairs: _Pairs) -> pd.Series:
    """The reason of the entry by which a record of after is known or, where it is not, that of before was."""
    sides = []
    for frame, at in ((pairs.before, pairs.old), (pairs.after, pairs.new)):
        reason = frame["reason"].astype("str").where(frame["verdict"].isin(["known", "stale"]), "").to_numpy(object)
        sides.append(np.append(reason, "")[at])
    return pd.Series(np.where(sides[1] != "", sides[1], sides[0])).astype("category")


def _simple(pairs: _Pairs) -> np.ndarray:
    """What sorts records by their examples, the simplest input first: of after or, where it has none, before."""
    frames = pairs.before, pairs.after
    examples = pd.concat([frame[["example"]].astype("str") for frame in frames], ignore_index=True)
    rank, split = tables.simplicity(examples).to_numpy(), len(pairs.before)
    last = rank.max(initial=0)
    return np.minimum(np.append(rank[:split], last)[pairs.old], np.append(rank[split:], last)[pairs.new])


def _column(codes: np.ndarray, names: np.ndarray, at: np.ndarray) -> pd.Series:
    """The texts at these positions as a category; empty where the position is -1."""
    return _texts(np.append(codes, -1)[at], names)


def _either(pairs: _Pairs, name: str) -> pd.Series:
    """The text of the record of after or, where there is none, of before."""
    old, new, names = pairs.codes[name]
    return _texts(np.where(pairs.new >= 0, np.append(new, -1)[pairs.new], np.append(old, -1)[pairs.old]), names)


def _texts(codes: np.ndarray, names: np.ndarray) -> pd.Series:
    """The texts of these numbers as a category of those that occur; empty where the number is -1."""
    used = np.flatnonzero(np.bincount(codes + 1, minlength=1))
    ids, texts = pd.factorize(np.array([names[c - 1] if c else "" for c in used], dtype=object))
    of = np.zeros(len(names) + 1, np.int64)
    of[used] = ids
    return pd.Series(pd.Categorical.from_codes(of[codes + 1], categories=pd.Index(texts, dtype="str")))


def _numbers(column: pd.Series, at: np.ndarray) -> np.ndarray:
    missing = 0 if column.dtype.kind == "i" else np.nan
    return np.append(column.to_numpy(), missing)[at]  # -1 is the last one


def _inputs_changed(pairs: _Pairs) -> np.ndarray:
    """Whether the inputs of a pair's records differ, as far as records tell; False where one run has no record."""
    both = np.flatnonzero((pairs.old >= 0) & (pairs.new >= 0))
    before, after, old, new = pairs.before, pairs.after, pairs.old[both], pairs.new[both]
    sides = (before, old), (after, new)
    differ = np.zeros(len(both), bool)
    for name in ("seed", "dtype", "recipe"):
        one, other, _ = pairs.codes[name]
        differ |= one[old] != other[new]
    sizes = [frame["size"].to_numpy()[at] for frame, at in sides]
    shaped = [frame["kind"].isin(["", "value"]).to_numpy()[at] for frame, at in sides]
    differ |= (sizes[0] != sizes[1]) & (sizes[0] > 0) & (sizes[1] > 0) & shaped[0] & shaped[1]
    shown = np.flatnonzero((before["input"] != "").to_numpy()[old] & (after["input"] != "").to_numpy()[new])
    places, inputs = (
        [frame[name].iloc[at[shown]].to_numpy(object) for frame, at in sides] for name in ("worst_index", "input")
    )
    differ[shown] |= (places[0] == places[1]) & (inputs[0] != inputs[1])
    changed = np.zeros(len(pairs.old), bool)
    changed[both] = differ
    return changed


def _changes(found: pd.DataFrame, ulp: float) -> pd.Series:
    was, now = found["verdict_before"], found["verdict"]
    paired = ((found["before"] >= 0) & (found["after"] >= 0)).to_numpy()
    bad_before, bad = was.isin(BAD).to_numpy(), now.isin(BAD).to_numpy()
    codes = {name: found[name].cat.codes.to_numpy() for name in ("verdict_before", "verdict", "kind_before", "kind")}
    other = (codes["verdict_before"] != codes["verdict"]) | (codes["kind_before"] != codes["kind"])
    tested = now.isin(["match", "contract"]).to_numpy()
    # A comparison without a counterpart, in a cell that both runs have: news where it fails, and gone where it failed.
    plan = found["plan"].cat
    cells = pd.factorize(found["case"].cat.codes.to_numpy() * np.int64(len(plan.categories)) + plan.codes)[0]
    size = cells.max(initial=-1) + 1
    old, new = (found[name].to_numpy() >= 0 for name in ("before", "after"))
    shared = (np.bincount(cells, old, size) > 0) & (np.bincount(cells, new, size) > 0)
    sound = (np.bincount(cells, bad, size) == 0) & (np.bincount(cells, tested, size) > 0)
    there = shared[cells]
    one, another, _ = common(found["against_before"], found["against"])
    same = paired & ~other & ~found["inputs_changed"].to_numpy() & (one == another)
    change = np.select(
        [
            bad & ~bad_before & (paired | there),
            bad_before & tested & paired,
            bad_before & ~new & there & sound[cells],
            ~old,
            ~new,
            other,
            same & _moved(found, ulp),
        ],
        ["new", "fixed", "fixed", "appeared", "disappeared", "changed", "drifted"],
        "unchanged",
    )
    return pd.Series(pd.Categorical(change, categories=list(CHANGES)))


def _moved(found: pd.DataFrame, ulp: float) -> np.ndarray:
    one, other = found["max_ulp_before"].to_numpy(), found["max_ulp"].to_numpy()
    with np.errstate(all="ignore"):  # distances may be infinite, or as large as floats go
        apart = np.where(one == other, 0.0, np.abs(other - one))
        used = np.abs(other / found["budget"].to_numpy() - one / found["budget_before"].to_numpy())
        far = (apart > ulp) & (apart > TENTH * np.fmax(one, other))
        return far | (np.isinf(one) != np.isinf(other)) | (np.isfinite(used) & (used > QUARTER) & (apart > 0))


def _severity(verdicts: pd.Series) -> np.ndarray:
    """0 for the worst verdict; the number of verdicts where there is none."""
    ranks = [tables.SEVERITY.index(v) if v else len(tables.SEVERITY) for v in verdicts.cat.categories]
    return np.array(ranks)[verdicts.cat.codes]


def _worse(found: pd.DataFrame) -> np.ndarray:
    change = found["change"].to_numpy(object)
    was, now = (_severity(found[name]) for name in ("verdict_before", "verdict"))
    bad_before, bad = (found[name].isin(BAD).to_numpy() for name in ("verdict_before", "verdict"))
    fails = found["verdict"].isin(FAILING).to_numpy()
    untested = ((found["verdict"] == "unavailable") & (found["verdict_before"] != "unavailable")).to_numpy()
    farther = (found["max_ulp"] > found["max_ulp_before"]).to_numpy()
    return np.select(
        [change == "new", change == "changed", change == "drifted", change == "appeared"],
        [True, (bad & bad_before & (now <= was)) | untested, bad & farther, fails],
        found["lost"].to_numpy(),
    ).astype(bool)
