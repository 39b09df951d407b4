"""History: the verdicts of many runs over time: since when each stands, and which ones change back and forth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.histories.nights import Nights
from tf_opdiff.reports.analysis.histories.stored_run import KEY
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN, SEVERITY, VERDICTS

#: The columns that identify a row of the grid, unless the caller names others.
ROW = ("suite", "spec", "case", "device", "mode")
#: A row that always had one of these verdicts is left out, unless the caller wants it.
QUIET = ("contract", "match")
#: The verdicts by their codes; the last code means that a run lacks the row.
NAMES = np.asarray([*SEVERITY, ""], dtype=object)
ABSENT = len(SEVERITY)
#: A code of the outcome by verdict. A known failure that a person adds or deletes does not change an outcome.
_OUTCOMES = ("agrees", "differs", "fault", "unavailable")
_OUTCOME_OF = {verdict.name: _OUTCOMES.index(verdict.outcome) for verdict in VERDICTS.values()}


def grid(nights: Nights, by: Sequence[str] = ROW, *, quiet: bool = False) -> pd.DataFrame:
    """The worst verdict of each row in each run.

    The index is `by`, some columns of `reports.analysis.histories.stored_run.KEY`; the columns are run ids, the newest
    first; a cell is a verdict, or empty where the run lacks the row, which does not mean that it passed. Rows are
    sorted by their last change, the latest first. Rows that were always `match` or `contract` are left out unless
    `quiet`.

    Raises:
      LookupError: `by` names something else.
    """
    worst = _worst(nights, by)
    if not quiet:
        worst = worst[(worst < SEVERITY.index(QUIET[0])).any(axis=1)]
    codes = worst.to_numpy()
    order = np.lexsort((codes.min(axis=1, initial=ABSENT), _since(codes)))
    return pd.DataFrame(NAMES[codes[order]], index=worst.index[order], columns=nights.runs["run"].tolist(), dtype="str")


def seen(nights: Nights, by: Sequence[str] = ROW) -> pd.DataFrame:
    """When each row that ever failed or was known did so, in the order of `grid`.

    Columns: `by`; `kinds` of the failures; `verdict` in the newest run that has the row, and the run `since` which the
    row has had it; `first` and `last`, the runs in which the row failed or was known for the first and the last time;
    `bad`, in how many runs it did, out of the `runs` that have it. Runs are given by their ids.
    """
    table = grid(nights, by)
    table = table[table.isin(FAILING_OR_KNOWN).any(axis=1)]
    codes = pd.Categorical(table.to_numpy().ravel(), list(NAMES)).codes.reshape(table.shape)
    bad, covered = table.isin(FAILING_OR_KNOWN).to_numpy(), codes != ABSENT
    runs = np.asarray(table.columns, dtype=object)
    if not len(table):
        return pd.DataFrame(columns=[*by, "kinds", "verdict", "since", "first", "last", "bad", "runs"])
    return (
        table.index.to_frame(index=False)
        .astype("str")
        .assign(
            kinds=_kinds(nights, by).reindex(table.index, fill_value="").to_numpy(),
            verdict=NAMES[codes[np.arange(len(codes)), covered.argmax(axis=1)]],
            since=runs[_since(codes)],
            first=runs[len(runs) - 1 - bad[:, ::-1].argmax(axis=1)],
            last=runs[bad.argmax(axis=1)],
            bad=bad.sum(axis=1),
            runs=covered.sum(axis=1),
        )
    )


def failing(nights: Nights, by: Sequence[str] = ("suite", "spec")) -> pd.DataFrame:
    """The rows that fail in the newest run that has them, those that turned red last first.

    The index is `by`. Columns: `verdict`, the worst one of that run; `since`, the id of the oldest run of the unbroken
    series of runs in which the row fails; `runs`, the length of that series, where runs that lack the row do not count;
    `turned`: a case under a plan fails in the newest run of all, and did not fail in the run before it that has both;
    `first`: the row fails in the newest run and in none before it, and only where no earlier run tested it.
    """
    worst = _worst(nights, by)
    codes = worst.to_numpy()
    fails = np.isin(codes, [SEVERITY.index(verdict) for verdict in FAILING])
    present = codes != ABSENT
    series = np.logical_and.accumulate(fails | ~present, axis=1) & fails
    rows = np.flatnonzero(series.any(axis=1))
    series, newest = series[rows], codes[rows, present[rows].argmax(axis=1)]
    oldest = series.shape[1] - 1 - series[:, ::-1].argmax(axis=1)
    turned = _turned(nights, by).reindex(worst.index[rows], fill_value=False).to_numpy()
    table = pd.DataFrame(
        {
            "verdict": NAMES[newest],
            "since": nights.runs["run"].to_numpy(dtype=object)[oldest],
            "runs": series.sum(axis=1),
            "turned": series[:, 0] & (series.sum(axis=1) == 1) & turned,
            "first": series[:, 0] & (series.sum(axis=1) == 1) & ~turned,
        },
        index=worst.index[rows],
    )
    return table.iloc[np.argsort(oldest, kind="stable")]


def _turned(nights: Nights, by: Sequence[str]) -> pd.Series:
    """For each row, whether one of its cases under a plan turned red in the newest run; see `failing`."""
    worst = _worst(nights, tuple(dict.fromkeys([*by, *ROW])))
    codes = worst.to_numpy()
    fails, present = np.isin(codes, [SEVERITY.index(verdict) for verdict in FAILING]), codes != ABSENT
    earlier = present[:, 1:]
    if not earlier.shape[1]:
        return pd.Series(False, worst.index).groupby(list(by), observed=True).any()
    before = fails[np.arange(len(codes)), 1 + earlier.argmax(axis=1)]
    turned = fails[:, 0] & earlier.any(axis=1) & ~before
    return pd.Series(turned, worst.index).groupby(list(by), observed=True).any()


def flaky(nights: Nights, *, least: int = 2) -> pd.DataFrame:
    """The records whose outcome changed at least `least` times, those with the highest flip rate first.

    Columns: `reports.analysis.histories.stored_run.KEY`; `changes` and `opportunities`, and their quotient `rate`;
      `verdicts`,
    one for each run, the newest first. An opportunity is two consecutive runs among those that have the record with the
    same TensorFlow, device and inputs. A change is an opportunity with two different outcomes: agreement, difference,
    the suite's own fault, unavailable. A change of the known failures alone does not change an outcome.
    """
    outcomes = _worst(nights, KEY, nights.records["verdict"].map(_OUTCOME_OF).astype("int8"))
    changes, opportunities = np.zeros((2, len(outcomes)), "int32")
    devices = outcomes.index.get_level_values("device").astype(str)
    for device in devices.unique():
        rows = np.flatnonzero(devices == device)
        for columns in _same_environment(nights.runs, device):
            last = np.full(len(rows), ABSENT)
            for column in outcomes.to_numpy()[rows][:, columns].T:
                both = (column != ABSENT) & (last != ABSENT)
                opportunities[rows] += both
                changes[rows] += both & (column != last)
                last = np.where(column != ABSENT, column, last)
    some = np.flatnonzero(changes >= max(least, 1))
    table = outcomes.index[some].to_frame(index=False).astype("str")
    numbers = {"changes": changes[some], "opportunities": opportunities[some]}
    table = table.assign(**numbers, rate=changes[some] / opportunities[some])
    cells = NAMES[_worst(nights, KEY).to_numpy()[some]]
    table["verdicts"] = pd.Series([" ".join(v or "-" for v in line) for line in cells], dtype="str")
    return table.sort_values(["rate", "changes"], ascending=False, kind="stable").reset_index(drop=True)


def _worst(nights: Nights, by: Sequence[str], codes: pd.Series | None = None) -> pd.DataFrame:
    """The least code of each row in each run, or `ABSENT`; without `codes`, those of the verdicts in `SEVERITY`."""
    if unknown := [name for name in by if name not in KEY]:
        raise LookupError(f"rows by {', '.join(unknown)}: expected some of {', '.join(KEY)}")
    if codes is None:
        code_of = {verdict: code for code, verdict in enumerate(SEVERITY)}
        codes = nights.records["verdict"].map(code_of).astype("int8")
    keys = nights.records[[*by, "run"]].assign(code=codes)
    table = keys.groupby([*by, "run"], observed=True)["code"].min().unstack("run", fill_value=ABSENT)
    return table.reindex(columns=range(len(nights.runs)), fill_value=ABSENT).astype("int8")


def _since(codes: np.ndarray) -> np.ndarray:
    """For each row the column of the run since which it has its latest code; runs that lack the row don't count."""
    since, latest = np.zeros(len(codes), "int64"), np.full(len(codes), ABSENT)
    unchanged = np.ones(len(codes), bool)
    for i, column in enumerate(codes.T):
        present = column != ABSENT
        latest = np.where((latest == ABSENT) & present, column, latest)
        unchanged &= ~present | (column == latest)
        since[unchanged & present] = i
    return since


def _kinds(nights: Nights, by: Sequence[str]) -> pd.Series:
    some = nights.records[nights.records["verdict"].isin(FAILING_OR_KNOWN)]
    some = some[[*by, "kind"]].astype("str").drop_duplicates().query("kind != ''").sort_values("kind")
    return some.groupby(list(by))["kind"].agg(" ".join)


def _same_environment(runs: pd.DataFrame, device: str) -> Iterator[list[int]]:
    """The columns, the oldest first, of the runs that had the same TensorFlow and the same device of this name."""
    pairs = zip(runs["tf"], runs["environment"], strict=True)
    environments = [(str(tf), about.get(device)) for tf, about in pairs]
    for environment in dict.fromkeys(environments):
        if environment[1] is not None:
            yield [i for i in reversed(range(len(environments))) if environments[i] == environment]
