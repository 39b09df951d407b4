"""Changes: the change of each record from one run to another."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.comparisons.noise import beyond
from tf_opdiff.reports.analysis.comparisons.paired_records import PairedRecords
from tf_opdiff.reports.analysis.histories.stored_run import KEY
from tf_opdiff.reports.data.figures.pairs import common
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN, SEVERITY

CHANGES = ("new", "changed", "fixed", "drifted", "appeared", "disappeared", "unchanged")
#: A distance has drifted in two cases. Either it moved by more than `ULP` (more than one rounding can move it) and by
#: more than `TENTH` of itself (the last digits of a large distance mean nothing). Or the share of its budget that it
#: uses moved by more than `QUARTER` of the budget.
ULP, TENTH, QUARTER = 0.5, 0.1, 0.25


def diff(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    ulp: float = ULP,
    not_run: pd.DataFrame | None = None,
    noise: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The change of each record: one row for each of `after`, in order, and then for each that only `before` has.

    A record is a case × device × mode × oracle × quantity; see `reports.data.figures.pairs`.

    Columns:
      change: category. `new`: fails or is known now, and did neither before; `fixed`: the other way round, and tested;
        `changed`: another verdict or other kinds otherwise; `drifted`: same verdict, kinds and inputs, but `max_ulp`
        moved (see `ULP`); `appeared` and `disappeared`: the record has no counterpart; `unchanged`.
      worse: bool. True for new records, for records that fail in another way (unless the verdict is milder now), that
        were tested and are unavailable, that fail with a larger distance, that appeared and fail, and that were planned
        and have no result now.
      suite, spec, case, dtype, recipe, device, mode, against, quantity, plan: category; those of `after` if it has the
        record.
      against_before: category; differs where the plan was compared with another oracle.
      verdict_before, verdict, kind_before, kind: category; empty where the run has no such record.
      kinds_before, kinds: category. All kinds, `;`-joined; the shown one if one of the two records is of an earlier
        version, which names no others.
      mismatched_before, mismatched: int64, elements. max_ulp_before, max_ulp, budget_before, budget: float64, ULPs.
      max_abs_before, max_abs: float64.
      inputs_changed: bool. Seed, dtype, recipe, number of elements, or the input at the same index differ, so distances
        are not compared.
      reason: category. That of the entry by which the record of `after`, or else that of `before`, is known.
      simple: int64. Sorts the records by their examples, the simplest input first.
      lost: bool. It was planned in `after`'s run and has no result.
      before, after: int64. The positions of the records; -1 where the run has no such record.

    Args:
      before: the records of a run, as `reports.load` gives them.
      after: those of the other one.
      ulp: by how many ULPs a distance may move before it counts as drifted.
      not_run: `reports.tables.not_run` of the run of `after`.
      noise: `reports.analysis.comparisons.noise.noise` of runs like that of `after`. A record that it has drifted if
        its distance is outside the range of those runs by more than the width of that range, whatever `ulp` says.
    """
    changes = PairedRecords.match(before, after).columns()
    changes.loc[_lost(changes, not_run), "lost"] = True
    changes.insert(0, "change", _changes(changes, _moved(changes, ulp, noise)))
    changes.insert(1, "worse", _worse(changes))
    return changes


def _lost(pairs: pd.DataFrame, not_run: pd.DataFrame | None) -> np.ndarray:
    """The positions of the rows that only the earlier run has, and whose cells are among those that did not run."""
    only_before = np.flatnonzero(pairs["after"] < 0)
    if not_run is None or not len(not_run):
        return only_before[:0]
    cell = ["case", "device", "mode"]
    cells = pd.MultiIndex.from_frame(not_run[cell].astype(str))
    return only_before[pd.MultiIndex.from_frame(pairs.iloc[only_before][cell].astype(str)).isin(cells)]


def _changes(pairs: pd.DataFrame, moved: np.ndarray) -> pd.Series:
    old, new = (pairs[name].to_numpy() >= 0 for name in ("before", "after"))
    paired = old & new
    bad_before, bad = (pairs[name].isin(FAILING_OR_KNOWN).to_numpy() for name in ("verdict_before", "verdict"))
    tested = pairs["verdict"].isin(["match", "contract"]).to_numpy()
    verdicts = (pairs[name].cat.codes.to_numpy() for name in ("verdict_before", "verdict"))
    kinds = common(pairs["kinds_before"], pairs["kinds"])[:2]
    other = np.not_equal(*verdicts) | np.not_equal(*kinds)
    # A comparison without a counterpart, in a cell that both runs have, is new if it fails, and fixed if it failed.
    shared, sound = _cells(pairs, bad, tested)
    against_before, against, _ = common(pairs["against_before"], pairs["against"])
    same = paired & ~other & ~pairs["inputs_changed"].to_numpy() & (against_before == against)
    change = np.select(
        [
            bad & ~bad_before & (paired | shared),
            bad_before & tested & paired,
            bad_before & ~new & shared & sound,
            ~old,
            ~new,
            other,
            same & moved,
        ],
        ["new", "fixed", "fixed", "appeared", "disappeared", "changed", "drifted"],
        "unchanged",
    )
    return pd.Series(pd.Categorical(change, categories=list(CHANGES)))


def _cells(pairs: pd.DataFrame, bad: np.ndarray, tested: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row, whether both runs have records of its cell (case × plan), and whether all of them pass now."""
    plan = pairs["plan"].cat
    cells = pd.factorize(pairs["case"].cat.codes.to_numpy() * np.int64(len(plan.categories)) + plan.codes)[0]
    size = cells.max(initial=-1) + 1
    old, new = (pairs[name].to_numpy() >= 0 for name in ("before", "after"))
    shared = (np.bincount(cells, old, size) > 0) & (np.bincount(cells, new, size) > 0)
    sound = (np.bincount(cells, bad, size) == 0) & (np.bincount(cells, tested, size) > 0)
    return shared[cells], sound[cells]


def _moved(pairs: pd.DataFrame, ulp: float, noise: pd.DataFrame | None) -> np.ndarray:
    """Whether a distance moved so far that it counts as drifted: by its noise where that is known, else see `ULP`."""
    before, after = pairs["max_ulp_before"].to_numpy(), pairs["max_ulp"].to_numpy()
    with np.errstate(all="ignore"):  # distances may be infinite, or as large as floats can be
        apart = np.where(before == after, 0.0, np.abs(after - before))
        share = np.abs(after / pairs["budget"].to_numpy() - before / pairs["budget_before"].to_numpy())
        far = (apart > ulp) & (apart > TENTH * np.fmax(before, after))
        moved = far | (np.isinf(before) != np.isinf(after)) | (np.isfinite(share) & (share > QUARTER) & (apart > 0))
    if noise is None or not len(noise):
        return moved
    ranges = noise.reindex(pd.MultiIndex.from_frame(pairs[list(KEY)].astype("str")))
    known = ranges["runs"].notna().to_numpy()
    left = beyond(pairs["max_ulp"], *(ranges[name].reset_index(drop=True) for name in ("low", "high"))).to_numpy()
    return np.where(known, left, moved)


def _severity(verdicts: pd.Series) -> np.ndarray:
    """0 for the worst verdict; the number of verdicts for a missing record."""
    ranks = [SEVERITY.index(v) if v else len(SEVERITY) for v in verdicts.cat.categories]
    return np.array(ranks)[verdicts.cat.codes]


def _worse(changes: pd.DataFrame) -> np.ndarray:
    change = changes["change"].to_numpy(object)
    was, now = (_severity(changes[name]) for name in ("verdict_before", "verdict"))
    bad_before, bad = (changes[name].isin(FAILING_OR_KNOWN).to_numpy() for name in ("verdict_before", "verdict"))
    fails = changes["verdict"].isin(FAILING).to_numpy()
    untested = ((changes["verdict"] == "unavailable") & (changes["verdict_before"] != "unavailable")).to_numpy()
    farther = (changes["max_ulp"] > changes["max_ulp_before"]).to_numpy()
    return np.select(
        [change == "new", change == "changed", change == "drifted", change == "appeared"],
        [True, (bad & bad_before & (now <= was)) | untested, bad & farther, fails],
        changes["lost"].to_numpy(),
    ).astype(bool)
