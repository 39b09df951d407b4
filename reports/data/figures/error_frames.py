"""Error frames: the error profiles in the shards of a run, summed over recipes, as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.records.error_profile import BIN, CLASSES, EDGES, PLACE, ErrorProfile, sum_bins
from tf_opdiff.reports.data.run_data import shards

#: The columns that both tables begin with: which profile the row belongs to. One sentence for each.
PROFILE: Mapping[str, str] = {
    "spec": "The name of the spec.",
    "raw_op": "The covered OpDefs that the executed graphs contain, joined by `;`.",
    "dtype": "The dtype of the cases.",
    "attrs": "The label of the cases' keyword arguments. Empty where the spec has no such labels.",
    "device": "The device of the plan.",
    "mode": "The mode of the plan.",
    "quantity": "The compared result: `output[i]`, `grad[i]`, `jvp[i]` or `hvp[i]`.",
    "budget": "The allowed distance in ULPs of the result's dtype. Where the spec's bound is larger, it allows more.",
}
#: The columns of `errors.parquet` after those of `PROFILE`.
BINS: Mapping[str, str] = {
    "argument": "The number whose size the bins are about: `input[i]`, the first floating-point input with the "
    "result's shape, at the index of the result's element; or `promise`, the promised result, if no input has that "
    "shape. Bars, as in `|input[0]|`, mean the modulus of a complex number.",
    "argument_class": "The class of the argument: `zero`, `subnormal`, `normal`, `inf` or `nan`.",
    "sign": "The sign of the argument: 1 or -1, also for zeros; 0 for NaN.",
    "exponent": "The binary exponent of the argument: floor(log2 |x|). 0 for zeros, infinities and NaN.",
    "elements": "The number of compared elements, summed over recipes. A sweep counts as a recipe.",
    "max_ulp": "The largest distance in ULPs, of elements with the right class. NaN if all classes are wrong.",
    "wrong": "The number of elements with a wrong class: NaN, infinity, the sign of a zero, a flushed subnormal.",
    "mismatched": "The number of elements that differ by more than allowed. A sweep allows flushed subnormals.",
}
#: The columns of `error_histogram.parquet` after those of `PROFILE`.
STEPS: Mapping[str, str] = {
    "up_to": "The upper edge of the bin in ULPs: 0, 0.5, 1, 2, 4, …, 2^32, infinity. A distance in the bin is at most "
    "this, and larger than the next smaller edge. NaN: the class is wrong.",
    "elements": "The number of compared elements in the bin, summed over recipes. Empty bins have no row.",
}
INTEGERS, FLOATS = ("sign", "exponent", "elements", "wrong", "mismatched"), ("budget", "max_ulp", "up_to")


#: Owners whose bins are summed together; those of all owners at once would take several times the memory.
_TOGETHER = 1024

#: The owner of a profile: the values of the columns of `PROFILE`, without `raw_op`.
_Owner = tuple[str, str, str, str, str, str, float]


def frames(run: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The error profiles in the shards of a run: with the columns of `PROFILE` and `BINS`, of `PROFILE` and `STEPS`.

    If a cell was run twice, its last result line counts.

    Raises:
      ValueError: a line has another type than its own.
    """
    profiles: dict[_Owner, list[ErrorProfile]] = {}
    raw_ops: dict[_Owner, dict[str, None]] = {}
    for row, errors in shards.errors(run):
        for quantity, profile in errors.items():
            spec, dtype, attrs = encodable(row.spec), encodable(row.dtype), encodable(row.attrs)
            device, mode = encodable(row.device), encodable(row.mode)
            owner = (spec, dtype, attrs, device, mode, encodable(quantity), profile.budget)
            profiles.setdefault(owner, []).append(profile)
            raw_ops.setdefault(owner, {}).update(dict.fromkeys(filter(None, encodable(row.raw_op).split(";"))))
    owners = sorted(profiles)
    names = [name for name in PROFILE if name != "raw_op"]
    columns: dict[str, list[Any]] = {name: [owner[i] for owner in owners] for i, name in enumerate(names)}
    columns["raw_op"] = [";".join(sorted(raw_ops[owner])) for owner in owners]
    sorted_profiles = [profiles[owner] for owner in owners]
    return _bins(columns, sorted_profiles), _steps(columns, sorted_profiles)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with categories, integers and floats.

    Raises:
      ValueError: a class of arguments is none of `CLASSES`.
    """
    kinds = {name: "int64" if name in INTEGERS else "float64" if name in FLOATS else "category" for name in frame}
    frame = frame.astype(kinds)
    if "argument_class" in frame:
        column = frame["argument_class"]
        if unknown := set(column.cat.categories) - set(CLASSES):
            raise ValueError(f"column argument_class: {sorted(unknown)}: expected {', '.join(CLASSES)}")
        frame["argument_class"] = column.cat.set_categories(CLASSES)
    return frame


def _bins(columns: Mapping[str, Sequence[object]], by_owner: Sequence[Sequence[ErrorProfile]]) -> pd.DataFrame:
    """The table of bins; `columns` and `by_owner` have a value for each owner."""
    if not by_owner:
        return typed(pd.DataFrame(columns=[*PROFILE, *BINS]))
    arguments = sorted({encodable(profile.argument) for profiles in by_owner for profile in profiles})
    starts = range(0, len(by_owner), _TOGETHER)
    parts = [_summed(by_owner[start : start + _TOGETHER], start, arguments) for start in starts]
    summed, largest = np.concatenate([sums for sums, _ in parts], axis=1), np.concatenate([most for _, most in parts])
    owner, argument, sign, group, exponent, *counts = summed
    frame = {name: _texts(columns[name], owner) for name in PROFILE}
    frame |= {"argument": _texts(arguments, argument), "argument_class": _texts(CLASSES, group)}
    frame |= {"sign": sign, "exponent": exponent, "max_ulp": largest, **dict(zip(BIN[PLACE:], counts, strict=True))}
    return typed(pd.DataFrame(frame)[[*PROFILE, *BINS]])


def _summed(
    by_owner: Sequence[Sequence[ErrorProfile]], first: int, arguments: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The bins of some owners, and the largest distance in each; see `sum_bins`.

    The rows are the numbers of the owner (that of the first one is `first`) and of the argument, sign, class, exponent,
    and the counts.
    """
    every = [(number, profile) for number, profiles in enumerate(by_owner, first) for profile in profiles]
    about = {text: number for number, text in enumerate(arguments)}
    pairs = [(number, about[encodable(profile.argument)]) for number, profile in every]
    sizes = [profile.max_ulp.size for _, profile in every]
    group, sign, exponent, *counts = np.concatenate([profile.bins for _, profile in every], axis=1)
    named = np.stack([*np.repeat(pairs, sizes, axis=0).T, sign, group, exponent, *counts])
    return sum_bins(named, np.concatenate([profile.max_ulp for _, profile in every]), 2 + PLACE)


def _steps(columns: Mapping[str, Sequence[object]], by_owner: Sequence[Sequence[ErrorProfile]]) -> pd.DataFrame:
    """The table of histograms; `columns` and `by_owner` have a value for each owner."""
    counts = np.array([sum(profile.histogram for profile in profiles) for profiles in by_owner], np.int64)
    owner, step = np.nonzero(counts.reshape(len(by_owner), len(EDGES) + 1))
    frame = {name: _texts(columns[name], owner) for name in PROFILE}
    frame |= {"up_to": np.array([*EDGES, np.nan])[step], "elements": counts[owner, step] if len(owner) else step}
    return typed(pd.DataFrame(frame)[[*PROFILE, *STEPS]])


def _texts(values: Sequence[object], places: np.ndarray) -> pd.Categorical | np.ndarray:
    """The values at these places: floats as an array, texts as a categorical, which stores each text once."""
    if values and isinstance(values[0], float):
        return np.asarray(values, np.float64)[places]
    return pd.Categorical(list(values)).take(places)
