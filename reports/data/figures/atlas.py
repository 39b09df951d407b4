"""Atlas: the errors of unary elementwise ops by exponent of the input, from finished sweeps, in a file for each device.

A file is named as recordings are: `cpu@2.21.0.parquet`. A sweep that tried every input, or a sample that is spread
evenly over all of them, is in the atlas; a sweep of a part of the range is not, until its other parts come too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.records.error_profile import CLASSES
from tf_opdiff.reports.data.run_data import parquet as parquet_writer

#: The columns of an atlas; one sentence for each.
COLUMNS: Mapping[str, str] = {
    "spec": "The name of the spec.",
    "raw_op": "The covered OpDefs that the executed graphs contain, joined by `;`.",
    "dtype": "The dtype of the inputs.",
    "attrs": "The label of the keyword arguments. Empty where the spec has no such labels.",
    "device": "The device of the plan.",
    "mode": "The mode of the plan.",
    "quantity": "The result: `output[i]` or `grad[i]`.",
    "same_bits": "Other modes, joined by `;`, whose results have the same bits on each of `same_inputs` inputs.",
    "same_inputs": "The number of inputs on which the bits of the modes were compared.",
    "tf": "The version of TensorFlow.",
    "processor": "The processor: its name, its model and its instruction sets.",
    "date": "The day on which the newest of the sweeps began.",
    "step": "The distance of the tried bit patterns: 1 if every input was tried; otherwise the rows are of a sample.",
    "input_class": "The class of the inputs: `zero`, `subnormal`, `normal`, `inf` or `nan`.",
    "sign": "The sign of the inputs: 1 or -1, also for zeros; 0 for NaN.",
    "exponent": "The binary exponent of the inputs: floor(log2 |x|). 0 for zeros, infinities and NaN.",
    "inputs": "The number of inputs tried.",
    "finite": "The number of those with a finite promise and a finite result of the right class: they have a distance.",
    "rounded": "The number of those that equal the promise, correctly rounded.",
    "wrong": "The number of results of a wrong class: NaN, infinity, the sign of a zero, a flushed subnormal.",
    "max_ulp": "The largest distance from the promise in ULPs of the result; -1 if no result has a distance.",
    "total_ulp": "The sum of the distances in ULPs.",
    "worst": "The bit pattern of the first input with the largest distance; -1 if no result has a distance.",
}
#: The columns that name a place: it has one step.
PLACE = ("spec", "dtype", "attrs", "device", "mode", "quantity")
INTEGERS = ("same_inputs", "step", "sign", "exponent", "inputs", "finite", "rounded", "wrong", "worst")
FLOATS = ("max_ulp", "total_ulp")
SUFFIX = ".parquet"


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with integers, floats and texts, sorted by place and bin.

    Raises:
      ValueError: a class of inputs is none of `CLASSES`.
    """
    if unknown := set(frame["input_class"]) - set(CLASSES):
        raise ValueError(f"column input_class: {sorted(unknown)}: expected {', '.join(CLASSES)}")
    kinds = {name: "int64" if name in INTEGERS else "float64" if name in FLOATS else "str" for name in COLUMNS}
    frame = frame[list(COLUMNS)].astype(kinds)
    order = frame.assign(input_class=frame["input_class"].map(CLASSES.index))
    return frame.loc[order.sort_values([*PLACE, "input_class", "sign", "exponent"]).index].reset_index(drop=True)


def merged(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """One table of several, at least one; each place has the rows with the smallest step, and of these the last ones.

    Modes that have the same bits as another mode of a later table lose their rows.
    """
    both = pd.concat([table.assign(turn=turn) for turn, table in enumerate(tables)], ignore_index=True)
    if not len(both):
        return typed(both)
    rank = both["step"] * (both["turn"].max() + 1) - both["turn"]
    both = both[rank == rank.groupby([both[name] for name in PLACE], observed=True).transform("min")]
    others = [name for name in PLACE if name != "mode"]
    same = {
        (*row[:-1], mode)
        for row in both[[*others, "same_bits"]].drop_duplicates().itertuples(index=False, name=None)
        for mode in filter(None, row[-1].split(";"))
    }
    keys = both[[*others, "mode"]].itertuples(index=False, name=None)
    return typed(both[np.array([key not in same for key in keys], bool)])


def load(folder: Path | str) -> dict[str, pd.DataFrame]:
    """The tables of an atlas by the names of their files, such as `cpu@2.21.0`.

    Raises:
      ValueError: a file is a link, damaged or of another format.
    """
    kinds = {name: "integers" if name in INTEGERS else "floats" if name in FLOATS else "texts" for name in COLUMNS}
    paths = sorted(Path(folder).glob(f"*{SUFFIX}"))
    return {path.name.removesuffix(SUFFIX): typed(parquet.read(path, kinds).to_pandas()) for path in paths}


def store(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Adds a table to the files of its devices and versions of TensorFlow; returns these files."""
    folder.mkdir(parents=True, exist_ok=True)
    before, paths = load(folder), []
    for (device, tf), rows in table.groupby(["device", "tf"], observed=True):
        name = f"{device}@{tf}"
        whole = merged([before[name], rows] if name in before else [rows])
        parquet_writer.write(whole, folder / f"{name}{SUFFIX}")
        paths.append(folder / f"{name}{SUFFIX}")
    return paths
