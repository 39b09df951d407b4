"""Atlas: its figures as a document in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.accuracy import REGIONS, by_region, input_text, modes_text, tried_text
from tf_opdiff.reports.text.atlases.published import published
from tf_opdiff.reports.text.atlases.searched import cells as searched_cells
from tf_opdiff.reports.text.atlases.searched import searched
from tf_opdiff.reports.text.sentences.markdown import code, escape, table
from tf_opdiff.reports.text.sentences.sentence import number

#: A place and region of an atlas: the columns of `by_region`.
Row = Mapping[str, Any]
_DTYPES = ("float16", "bfloat16", "float32")
_HEADS = (
    *("dtype", "result", "modes", "inputs tried", "largest error, ULP", "at", "mean, ULP", "correctly rounded"),
    *("of subnormal inputs, ULP", "at", "wrong class: regular, subnormal, special"),
)
_ABOUT = """# The atlas: the error of every float

This page shows how far the results of TensorFlow's unary elementwise ops are from the exact results: values and
gradients, by dtype and mode. `python -m harness atlas` writes it from the files in `recordings/atlas/`, which hold the
same figures for each sign and exponent of the input. [Sweeps](guides/sweeps.md#the-atlas) tells how to add to them. The
site has <a href="atlas-pictures.html">pictures of the errors by exponent</a>.

- **Errors** are in units in the last place (ULP) of the exact result in its dtype. The exact result is computed in
  float64, and compared with wider numbers on a sample of each block. A gradient is the derivative times an upstream
  gradient between 1 and 3 in size, rounded once.
- **Inputs tried** says how much of the dtype was tried. The largest error of a sample is a lower bound of that of the
  dtype, and has a ≥ in front.
- **Regular** inputs are all numbers but zeros, subnormal numbers, infinities and NaN. The largest error, its input,
  the mean error and the share of correctly rounded results are those of regular inputs with a finite result.
- **Wrong class** counts results that are NaN, infinite, zero or finite where another class is exact. Subnormal numbers
  that were flushed to zero count here too, and have no distance.
- **Lanes.** A sweep runs tensors of many elements, which go through vector code. The last few elements of a tensor, and
  small tensors, go through scalar code, whose errors may be other ones: they are not in the atlas.
- **Modes** in one row have the same bits: on all inputs tried or, in float32, on as many as the list at the end of this
  page states.
"""


def document(
    atlases: Mapping[str, pd.DataFrame], others: Path, searches: Mapping[str, Sequence[Row]] | None = None
) -> str:
    """The document of some atlases by name; `others` is the file with the figures that others publish.

    `searches` has the rows of searches, by the same names.
    """
    searches = searches or {}
    rows = {name: tables.rows(by_region(atlas)) for name, atlas in atlases.items()}
    lines = [_ABOUT]
    for name, some in rows.items():
        several = f" on {code(name)}" if len(atlases) > 1 else ""
        for quantity, word in (("output[0]", "values"), ("grad[0]", "gradients")):
            lines += [f"## Largest errors of {word}{several}", ""]
            lines += _overview([row for row in some if _is_of(row, quantity)])
    values = {name: [row for row in some if _is_of(row, "output[0]")] for name, some in rows.items()}
    lines += searched(searches)
    errors = {name: _cells(some) for name, some in values.items()}
    for name, found in searches.items():
        for spec, mine in searched_cells(found).items():
            errors.setdefault(name, {}).setdefault(spec, {}).update(mine)
    lines += published(others, errors)
    for name, some in rows.items():
        lines += [f"## Each op on {code(name)}", ""]
        for spec, of_spec in groupby(some, key=itemgetter("spec")):
            lines += [f"### {spec}", "", *table(list(_HEADS), list(_lines(list(of_spec)))), ""]
        lines += _origin(name, some)
    return "\n".join(lines).rstrip() + "\n"


def _is_of(row: Row, quantity: str) -> bool:
    """Whether a row is about regular inputs of a quantity."""
    return (row["quantity"], row["region"]) == (quantity, "regular")


def _cells(rows: Sequence[Row]) -> dict[str, dict[tuple[str, str], str]]:
    """The text of the largest error by op, and by dtype and mode."""
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        for mode in modes_text(row["mode"], row["same_bits"]).split(", "):
            cells.setdefault(row["spec"], {})[row["dtype"], mode] = _distance(row)
    return cells


def _overview(rows: Sequence[Row]) -> list[str]:
    """A line for each op: the largest error of regular inputs by dtype and family of modes."""
    present = {row["dtype"] for row in rows}
    places = [(dtype, mode) for dtype in _DTYPES for mode in MODE_FAMILIES if dtype in present]
    lines = [[f"[{spec}](#{spec})", *(mine.get(place, "") for place in places)] for spec, mine in _cells(rows).items()]
    return [*table(["op", *(f"{dtype}, {mode}" for dtype, mode in places)], lines), ""]


def _lines(rows: Sequence[Row]) -> Iterator[list[str]]:
    """The lines of the table of one op."""
    places: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: (_DTYPES.index(row["dtype"]), row["attrs"], row["quantity"][:1] != "o")):
        place = tuple(row[name] for name in ("dtype", "attrs", "quantity", "mode"))
        places.setdefault(place, {})[row["region"]] = row
    for (dtype, attrs, quantity, mode), regions in places.items():
        regular, small = regions["regular"], regions.get("subnormal")
        yield [
            ", ".join(filter(None, [dtype, attrs])),
            {"output[0]": "value", "grad[0]": "gradient"}.get(quantity, escape(quantity)),
            modes_text(mode, regular["same_bits"]),
            tried_text(dtype, regular["tried"], regular["step"]),
            _distance(regular),
            _input(regular),
            number(float(f"{regular['mean_ulp']:.3g}")),
            _share(regular["rounded_share"]),
            "–" if small is None else _distance(small),
            "–" if small is None else _input(small),
            " / ".join(f"{regions[name]['wrong']:,}" if name in regions else "–" for name in REGIONS),
        ]


def _distance(row: Row) -> str:
    """The largest distance of a row; a lower bound of it if the row is of a sample."""
    if math.isnan(row["max_ulp"]):
        return "–"
    return ("≥ " if row["step"] > 1 else "") + number(float(f"{row['max_ulp']:.4g}"))


def _input(row: Row) -> str:
    """The input with the largest distance; a dash if all results are exact."""
    return input_text(row["dtype"], row["worst"]) if row["max_ulp"] > 0 else "–"


def _share(share: float) -> str:
    """A share in percent that is 100 only if it is whole."""
    return "–" if math.isnan(share) else "100 %" if share == 1 else f"{min(99.99, 100 * share):.2f} %"


def _origin(name: str, rows: Sequence[Row]) -> list[str]:
    """The software, the processors and the days of the figures, and the comparison of the modes."""
    lines = [f"## Origin of the figures on {code(name)}", ""]
    for tf, processor in sorted({(row["tf"], row["processor"]) for row in rows}):
        days = sorted({row["date"] for row in rows if (row["tf"], row["processor"]) == (tf, processor)})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        lines.append(f"- TensorFlow {escape(tf)} on {escape(processor)}, {span}.")
    for dtype in sorted({row["dtype"] for row in rows}, key=_DTYPES.index):
        counts = sorted({row["same_inputs"] for row in rows if row["dtype"] == dtype and row["same_bits"]})
        if counts:
            numbers = " or ".join(f"{n:,}" for n in counts)
            lines.append(f"- {dtype}: modes in one row gave the same bits on {numbers} inputs.")
    return [*lines, ""]
