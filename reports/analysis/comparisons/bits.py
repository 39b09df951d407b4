"""Bits: the quantities of two runs compared bit for bit, whatever the verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences.difference import differences
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.reports.data.figures.pairs import counterparts
from tf_opdiff.reports.data.run_data import frame

#: The columns that identify a quantity of a case under a plan.
KEYS = ["case", "device", "mode", "quantity"]
#: The columns that make the form of an array.
_FORM = ("dtype", "shape", "indices", "dense_shape")
#: Bytes of arrays that are compared at a time.
_BATCH = 1 << 24


def compared(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Each quantity that both runs observed, compared bit for bit; NaNs are equal to each other.

    Columns: `case`, `device`, `mode`, `quantity`; `numbers`: `same` or `differ`; `what` differs: `status` (or the code
    of an error), `form` (dtype, shape, or the indices of a sparse gradient), `values`, or empty; for `values`, `size`
    and `differing`, elements, and the largest distance: `apart` in ULPs of the former value, and `absolute`. A distance
    is inf where one value is not finite, and NaN where there is none to measure: texts have none, integers no ULPs.

    Args:
      before: the observations of a run, as `reports.load_observations` gives them.
      after: those of the other one.
    """
    before, after = (observations.assign(against="").reset_index(drop=True) for observations in (before, after))
    partner = counterparts(before, after)
    new = np.flatnonzero(partner >= 0)
    old = partner[new]
    what = np.full(len(new), "", dtype=object)
    for names, word in ((("bytes",), "values"), (_FORM, "form"), (("status", "code"), "status")):
        for name in names:
            what[~_equal(before[name].to_numpy(object)[old], after[name].to_numpy(object)[new])] = word
    size, count = np.zeros(len(new), np.int64), np.zeros(len(new), np.int64)
    apart, absolute = np.full(len(new), np.nan), np.full(len(new), np.nan)
    for rows in _batches(after.iloc[new], np.flatnonzero(what == "values")):
        was, now = _stacked(before.iloc[old[rows]]), _stacked(after.iloc[new[rows]])
        off = differing(now, was)
        size[rows], count[rows] = now.shape[1], off.sum(axis=1)
        apart[rows], absolute[rows] = _distances(was, now, off)
    what[(what == "values") & (count == 0)] = ""
    table = after.iloc[new][KEYS].reset_index(drop=True)
    table["numbers"] = pd.Categorical(np.where(what == "", "same", "differ"), categories=["", "same", "differ"])
    return table.assign(what=pd.Categorical(what), size=size, differing=count, apart=apart, absolute=absolute)


def _equal(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether texts, tuples or bytes are equal; missing values are equal to each other."""
    equal = np.fromiter((a == b for a, b in zip(before, after, strict=True)), bool, len(before))
    return equal | (pd.Series(before).isna() & pd.Series(after).isna()).to_numpy()


def _batches(observations: pd.DataFrame, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The rows whose arrays have the same dtype and size, in batches of about 16 MiB; texts one by one."""
    some = observations.iloc[rows]
    texts = (some["dtype"] == "bytes").to_numpy()
    lengths = np.where(texts, -np.arange(len(some)), [len(data) for data in some["bytes"]])
    for _, group in pd.Series(np.arange(len(rows))).groupby([some["dtype"].to_numpy(), lengths]):
        step = max(1, _BATCH // max(1, int(lengths[group.iloc[0]])))
        yield from (rows[group.to_numpy()[i : i + step]] for i in range(0, len(group), step))


def _stacked(observations: pd.DataFrame) -> np.ndarray:
    """Arrays of the same dtype and size, flattened, one in each row."""
    first = observations.iloc[0]
    if first["dtype"] == "bytes":
        value = frame.array({name: first[name] for name in ("dtype", "shape", "bytes")})
        assert value is not None
        return value.reshape(1, -1)
    return np.frombuffer(b"".join(observations["bytes"]), np.dtype(first["dtype"])).reshape(len(observations), -1)


def _distances(was: np.ndarray, now: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest distance in each row, in ULPs and absolute; `off` marks the elements that differ."""
    none = np.full(len(was), np.nan)
    if was.dtype.kind == "c":
        real, imaginary = _distances(was.real, now.real, off), _distances(was.imag, now.imag, off)
        return np.fmax(real[0], imaginary[0]), np.fmax(real[1], imaginary[1])
    if was.dtype.kind in "OSU":
        return none, none
    if not is_float(was.dtype):
        return none, np.abs(now.astype(np.float64) - was.astype(np.float64)).max(axis=1, initial=0.0)
    with np.errstate(all="ignore"):
        elements = differences(now, was, was.dtype)
    not_finite = ((elements.classes["nan"] | elements.classes["inf"]) & off).any(axis=1)
    ulps, absolute = (np.where(off, d, 0.0).max(axis=1, initial=0.0) for d in (elements.ulps, elements.absolute))
    return np.where(not_finite, np.inf, ulps), np.where(not_finite, np.inf, absolute)
