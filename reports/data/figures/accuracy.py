"""Accuracy: the largest and the mean error, and the share of correctly rounded results, of each place of an atlas."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tf_opdiff.harness.sweep.measurements.pieces import patterns
from tf_opdiff.reports.data.figures.atlas import PLACE

#: The regions of inputs, and the classes of inputs in each.
REGIONS = {"regular": ("normal",), "subnormal": ("subnormal",), "special": ("zero", "inf", "nan")}
_FACTS = ("raw_op", "same_bits", "same_inputs", "tf", "processor", "date", "step")


def by_region(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each place and region of an atlas with inputs, sorted by place.

    The columns are those of the place and its facts; `region`; `tried`, the inputs of all regions; `inputs`, `finite`,
    `rounded` and `wrong`, as in the atlas; `max_ulp` with `worst`, NaN and -1 without a finite result; `mean_ulp` and
    `rounded_share`, of the finite results, NaN without any.
    """
    region_of = {name: region for region, classes in REGIONS.items() for name in classes}
    table = table.assign(region=pd.Categorical(table["input_class"].map(region_of), list(REGIONS)))
    tried = table.groupby(list(PLACE), observed=True)["inputs"].transform("sum")
    groups = table.assign(tried=tried).groupby([*PLACE, "region"], observed=True, sort=True)
    counts = groups[["inputs", "finite", "rounded", "wrong", "total_ulp"]].sum()
    farthest = table.loc[groups["max_ulp"].idxmax(), [*PLACE, "region", "max_ulp", "worst"]]
    rows = counts.join(groups[[*_FACTS, "tried"]].first()).join(farthest.set_index([*PLACE, "region"]))
    finite = rows["finite"].where(rows["finite"] > 0)
    rows["mean_ulp"], rows["rounded_share"] = rows["total_ulp"] / finite, rows["rounded"] / finite
    rows["max_ulp"] = rows["max_ulp"].where(rows["max_ulp"] >= 0)
    return rows.drop(columns="total_ulp").reset_index()


def input_text(dtype: str, bits: int) -> str:
    """An input as its bit pattern and its value: `0xcc13 (-16.3)`."""
    size = np.dtype(dtype).itemsize
    value = np.array([bits], f"u{size}").view(dtype)[0]
    return f"{bits:#0{2 + 2 * size}x} ({float(value):.6g})"


def tried_text(dtype: str, tried: int, step: int) -> str:
    """The share of the inputs of a dtype that a sweep tried: `all 65,536`, `every 257th of 4,294,967,296`."""
    whole = patterns(dtype)
    return f"all {tried:,}" if step == 1 and tried == whole else f"every {step:,}{_ordinal(step)} of {whole:,}"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def modes_text(mode: str, same_bits: str) -> str:
    """A mode, and the modes with the same bits: `eager, function, graph`."""
    return ", ".join(filter(None, [mode, *same_bits.split(";")]))
