"""Errors: the error profile of a run: the distances from the reference, by bins of the argument and by size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store import parquet, untrusted

ERRORS = "errors.parquet"
HISTOGRAM = "error_histogram.parquet"
#: The classes of an argument, from small to large.
CLASSES = ("zero", "subnormal", "normal", "inf", "nan")
#: The columns that both tables begin with: which profile the row belongs to. One sentence for each.
PROFILE: Mapping[str, str] = {
    "spec": "The name of the spec.",
    "raw_op": "The covered OpDefs that the executed graph contains, joined by `;`.",
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
    "mismatched": "The number of elements that differ by more than allowed, including those with a wrong class.",
}
#: The columns of `error_histogram.parquet` after those of `PROFILE`.
STEPS: Mapping[str, str] = {
    "up_to": "The upper edge of the bin in ULPs: 0, 0.5, 1, 2, 4, …, 2^32, infinity. A distance in the bin is at most "
    "this, and larger than the next smaller edge. NaN: the class is wrong.",
    "elements": "The number of compared elements in the bin, summed over recipes. Empty bins have no row.",
}
_INTEGERS, _FLOATS = ("sign", "exponent", "elements", "wrong", "mismatched"), ("budget", "max_ulp", "up_to")


def load_errors(run: Path | str) -> pd.DataFrame:
    """The error profile of a run by bins of the argument: one row for each sign and binary exponent with elements.

    The columns are those of `PROFILE` and `BINS`, in that order: texts are categories; `sign`, `exponent`, `elements`,
    `wrong` and `mismatched` are integers; `budget` and `max_ulp` are floats. Rows are sorted by profile, sign and size.
    Only floating-point and complex results have a profile, each against NumPy, under its plan's promise; only elements
    that were compared count. The largest part of a complex result's error counts. A plan that gave no value has no row.

    The table is empty for a run without such profiles, such as one of an older version.

    Raises:
      ValueError: errors.parquet is a link, damaged or of another format.
    """
    return _load(run, ERRORS, {**PROFILE, **BINS})


def load_error_histogram(run: Path | str) -> pd.DataFrame:
    """The error profile of a run by the size of the error: one row for each bin of ULPs with elements.

    The columns are those of `PROFILE` and `STEPS`, in that order. The same elements count as in `load_errors`.

    Raises:
      ValueError: error_histogram.parquet is a link, damaged or of another format.
    """
    return _load(run, HISTOGRAM, {**PROFILE, **STEPS})


def _load(run: Path | str, name: str, columns: Mapping[str, str]) -> pd.DataFrame:
    path = untrusted.inside(Path(run), name)
    if not path.exists():
        return _typed(pd.DataFrame(columns=list(columns)))
    return _typed(parquet.read(path, _kinds(columns)).to_pandas())


def _kinds(columns: Mapping[str, str]) -> dict[str, str]:
    """The kind of each column, one of `harness.store.parquet.KINDS`."""
    return {name: "integers" if name in _INTEGERS else "floats" if name in _FLOATS else "texts" for name in columns}


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with categories, integers and floats."""
    kinds = {"integers": "int64", "floats": "float64", "texts": "category"}
    return frame.astype({name: kinds[kind] for name, kind in _kinds(dict.fromkeys(frame.columns, "")).items()})
