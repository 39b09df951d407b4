"""Op plot: the pictures of an op's errors for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.reports.analysis.ops.error_pictures import ErrorTables
from tf_opdiff.reports.analysis.ops.op_cells import quantity_order
from tf_opdiff.reports.data.figures.errors import load_error_histogram, load_errors
from tf_opdiff.reports.pages.op_pages.strip import Strip


@dataclass(frozen=True)
class OpPlot:
    """Pictures below each other; a notebook shows them. `strips` has each of them."""

    strips: tuple[Strip, ...]

    def _repr_html_(self) -> str:
        return "".join(strip._repr_html_() for strip in self.strips)

    def __repr__(self) -> str:
        return "\n".join(strip.label for strip in self.strips)


def plot(run: Path | str, *, op: str, dtype: str = "", quantity: str = "") -> OpPlot:
    """The errors of an op over its input range, for all plans of a run, as pictures for a notebook.

    Args:
      run: the directory of a run.
      op: an OpDef, such as `Asinh`, or a spec, such as `asinh`.
      dtype: only pictures of this dtype; empty for all.
      quantity: only pictures of this quantity, such as `grad[0]`; empty for all.

    Raises:
      LookupError: the run has no errors of this op, dtype or quantity; the message proposes the nearest name.
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: the run did not record errors by input, or a file is damaged.
    """
    bins = load_errors(run)
    if not len(bins):
        raise ValueError(f"{run}: expected a run that recorded errors by input, got one without them")
    histogram = load_error_histogram(run)
    ops = bins["raw_op"].astype("str").str.split(";")
    is_spec = (bins["spec"] == op).to_numpy()
    chosen = is_spec if is_spec.any() else [op in some for some in ops]
    if not any(chosen):
        raise LookupError(unknown("op", op, {*ops.explode(), *bins["spec"].astype("str")}))
    bins = bins[chosen]
    for name, value in (("dtype", dtype), ("quantity", quantity)):
        if value and not (bins[name] == value).any():
            raise LookupError(unknown(name, value, set(bins[name].astype("str"))))
        bins = bins[bins[name] == value] if value else bins
    specs = bins["spec"].astype("str").unique()
    pictures = ErrorTables(bins, histogram[histogram["spec"].isin(specs)]).pictures(specs)
    pictures.sort(key=lambda p: (p.dtype, quantity_order(p.quantity), p.specs))
    return OpPlot(tuple(Strip(picture) for picture in pictures))
