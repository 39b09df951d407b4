"""History: the verdicts of many runs over time: since when each stands, and which ones come and go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.reports.analysis.nights import KEY, Nights
from tf_opdiff.reports.data import tables

#: What makes a row of the grid, unless told otherwise.
ROW = ("suite", "spec", "case", "device", "mode")
#: A row that never had another verdict than these is only counted, unless asked for.
QUIET = ("contract", "match")
BAD = (*FAILING, "known")
NAMES = np.asarray([*tables.SEVERITY, ""], dtype=object)
ABSENT = len(tables.SEVERITY)
#: What came, whatever was made of it: that a person wrote or deleted a known failure is no change of it.
_CAME = {
    **dict.fromkeys(("match", "contract", "stale"), 0),
    **dict.fromkeys(("mismatch", "known"), 1),
    "error": 2,
    "unavailable": 3,
}


def grid(found: Nights, by: Sequence[str] = ROW, *, quiet: bool = False) -> pd.DataFrame:
    """The worst verdict of each row in each run.

    The index is `by`, out of `reports.nights.KEY`; the columns are run ids, the newest first; a cell is a verdict, or
    empty where the run has no record of the row: nothing says then that it passed. Rows are sorted by their last
    change, the latest first; those that were never anything but `match` or `contract` are left out unless `quiet`.

    Raises:
      LookupError: `by` names something else.
    """
    worst = _worst(found, by)
    if not quiet:
        worst = worst[(worst < tables.SEVERITY.index(QUIET[0])).any(axis=1)]
    codes = worst.to_numpy()
    order = np.lexsort((codes.min(axis=1, initial=ABSENT), _since(codes)))
    return pd.DataFrame(NAMES[codes[order]], index=worst.index[order], columns=found.runs["run"].tolist(), dtype="str")


def seen(found: Nights, by: Sequence[str] = ROW) -> pd.DataFrame:
    """When each row that ever failed or was known did so, in the order of `grid`.

    Columns: `by`; `kinds`, of what failed; `verdict` in the newest run that has the row, and the run `since` which it
    has been that; `first` and `last`, the runs in which the row failed or was known for the first and the last time; in
    how many runs it was so (`bad`), out of those that have it (`runs`). Runs are given by their ids.
    """
    table = grid(found, by)
    table = table[table.isin(BAD).any(axis=1)]
    codes = _codes(table)
    bad, covered = table.isin(BAD).to_numpy(), codes != ABSENT
    runs = np.asarray(table.columns, dtype=object)
    if not len(table):
        return pd.DataFrame(columns=[*by, "kinds", "verdict", "since", "first", "last", "bad", "runs"])
    told = table.index.to_frame(index=False).astype("str")
    return told.assign(
        kinds=_kinds(found, by).reindex(table.index, fill_value="").to_numpy(),
        verdict=NAMES[codes[np.arange(len(codes)), covered.argmax(axis=1)]],
        since=runs[_since(codes)],
        first=runs[len(runs) - 1 - bad[:, ::-1].argmax(axis=1)],
        last=runs[bad.argmax(axis=1)],
        bad=bad.sum(axis=1),
        runs=covered.sum(axis=1),
    )


def flaky(found: Nights, *, least: int = 2) -> pd.DataFrame:
    """The records whose outcome came and went, those with the highest flip rate first.

    Columns: `reports.nights.KEY`; `changes` and `opportunities`, and the `rate` of the two; `verdicts`, one a run, the
    newest first. An opportunity is two runs that follow each other among those that have the record with the same
    TensorFlow, device and inputs; a change is one where something else came: agreement, difference, the suite's own
    fault, unavailable. What only changed with the known failures is none. Fewer than `least` changes are no coming and
    going.
    """
    came = found.records["verdict"].map(_CAME).astype("int8")
    states = _worst(found, KEY, came)
    changes, chances = np.zeros((2, len(states)), "int32")
    devices = states.index.get_level_values("device").astype(str)
    for device in devices.unique():
        at = np.flatnonzero(devices == device)
        for columns in _alike(found.runs, device):
            last = np.full(len(at), ABSENT)
            for column in states.to_numpy()[at][:, columns].T:
                both = (column != ABSENT) & (last != ABSENT)
                chances[at] += both
                changes[at] += both & (column != last)
                last = np.where(column != ABSENT, column, last)
    some = np.flatnonzero(changes >= max(least, 1))
    told = states.index[some].to_frame(index=False).astype("str")
    told = told.assign(changes=changes[some], opportunities=chances[some], rate=changes[some] / chances[some])
    cells = NAMES[_worst(found, KEY).to_numpy()[some]]
    told["verdicts"] = pd.Series([" ".join(v or "-" for v in line) for line in cells], dtype="str")
    return told.sort_values(["rate", "changes"], ascending=False, kind="stable").reset_index(drop=True)


def _worst(found: Nights, by: Sequence[str], codes: pd.Series | None = None) -> pd.DataFrame:
    """The least code of each row in each run, or `ABSENT`; the codes are those of `tables.SEVERITY`, unless told."""
    if unknown := [name for name in by if name not in KEY]:
        raise LookupError(f"rows by {', '.join(unknown)}: expected some of {', '.join(KEY)}")
    if codes is None:
        severity = {verdict: code for code, verdict in enumerate(tables.SEVERITY)}
        codes = found.records["verdict"].map(severity).astype("int8")
    keys = found.records[[*by, "run"]].assign(code=codes)
    table = keys.groupby([*by, "run"], observed=True)["code"].min().unstack("run", fill_value=ABSENT)
    return table.reindex(columns=range(len(found.runs)), fill_value=ABSENT).astype("int8")


def _codes(table: pd.DataFrame) -> np.ndarray:
    cells = pd.Categorical(table.to_numpy().ravel(), list(NAMES))
    return cells.codes.reshape(table.shape)


def _since(codes: np.ndarray) -> np.ndarray:
    """For each row the column of the run since which it has been what it last was; runs without it don't count."""
    since, now = np.zeros(len(codes), "int64"), np.full(len(codes), ABSENT)
    going = np.ones(len(codes), bool)
    for i, column in enumerate(codes.T):
        there = column != ABSENT
        now = np.where((now == ABSENT) & there, column, now)
        going &= ~there | (column == now)
        since[going & there] = i
    return since


def _kinds(found: Nights, by: Sequence[str]) -> pd.Series:
    some = found.records[found.records["verdict"].isin(BAD)]
    some = some[[*by, "kind"]].astype("str").drop_duplicates().query("kind != ''").sort_values("kind")
    return some.groupby(list(by))["kind"].agg(" ".join)


def _alike(runs: pd.DataFrame, device: str) -> Iterator[list[int]]:
    """The columns, the oldest first, of the runs that had the same TensorFlow and the same such device."""
    told = [(str(tf), about.get(device)) for tf, about in zip(runs["tf"], runs["environment"], strict=True)]
    for one in dict.fromkeys(told):
        if one[1] is not None:
            yield [i for i in reversed(range(len(told))) if told[i] == one]
