"""Atlas page: a strip for each op, dtype and quantity of an atlas: the largest errors by exponent of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from tf_opdiff.reports.analysis.ops.error_pictures import ErrorTables
from tf_opdiff.reports.data.figures import error_frames, tables
from tf_opdiff.reports.data.figures.accuracy import by_region, tried_text
from tf_opdiff.reports.pages.op_pages.strip import Strip
from tf_opdiff.reports.pages.template import own_style, render

#: The dashed line of each strip: a correctly rounded result is at most so many ULPs off.
ROUNDED = 0.5


def html(atlases: Mapping[str, pd.DataFrame]) -> str:
    """The page of some atlases by name."""
    sections = {name: dict(_strips(atlas)) for name, atlas in atlases.items()}
    return render("atlas.html", sections=sections, strip_style=own_style("op/strip.css"))


def _strips(atlas: pd.DataFrame) -> Iterator[tuple[str, list[tuple[str, Strip]]]]:
    """Pairs (spec, its strips, each with the inputs that were tried)."""
    bins = _bins(atlas)
    histogram = bins.iloc[:0].assign(up_to=0.0)[[*error_frames.PROFILE, *error_frames.STEPS]]
    pictures = ErrorTables(bins, histogram)
    rows = tables.rows(by_region(atlas))
    tried = {(r["spec"], r["dtype"], r["quantity"]): tried_text(r["dtype"], r["tried"], r["step"]) for r in rows}
    for spec in dict.fromkeys(row["spec"] for row in rows):
        mine = sorted(pictures.pictures([spec]), key=lambda p: (p.dtype, p.quantity[:1] != "o", p.quantity))
        yield spec, [(tried[spec, p.dtype, p.quantity], Strip(p, "for correct rounding")) for p in mine]


def _bins(atlas: pd.DataFrame) -> pd.DataFrame:
    """The bins of an atlas as the error profile of a run: with a row for each mode that has the same bits."""
    pairs = zip(atlas["mode"], atlas["same_bits"], strict=True)
    modes = pd.Series([[mode, *filter(None, same.split(";"))] for mode, same in pairs], atlas.index, dtype=object)
    every = atlas.assign(mode=modes).explode("mode", ignore_index=True)
    frame = every.assign(argument_class=every["input_class"], elements=every["inputs"], argument="input[0]")
    frame = frame.assign(budget=ROUNDED, mismatched=0, max_ulp=every["max_ulp"].where(every["max_ulp"] >= 0, np.nan))
    return error_frames.typed(frame[[*error_frames.PROFILE, *error_frames.BINS]])
