"""Plot: histograms of distances in ULPs, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import Any

_ROW, _LABEL, _CELL, _TOP = 22, 420, 26, 40


def svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draws a row for each quantity and plan, a column for each distance; darkness is the logarithm of the count.

    `rows` come from `harness.sweep.measurements.tally_rows.summary`.
    """
    bins = max((len(r["histogram"]) for r in rows), default=0)
    names = ["=", "<1", *(f"2^{k}" for k in range(bins - 1))]
    out = []
    for k, name in enumerate(names):
        out.append(f'<text x="{_LABEL + _CELL * k + 3}" y="{_TOP - 8}">{escape(name)}</text>')
    for i, row in enumerate(rows):
        y = _TOP + _ROW * i
        label = f"{row['case']} {row['device']}/{row['mode']} {row['quantity']}"
        out.append(f'<text x="4" y="{y + 15}">{escape(label)}</text>')
        counts = [max(0, row["size"] - sum(row["histogram"])), *row["histogram"]]
        for k, count in enumerate(counts):
            shade = log10(count) / max(1.0, log10(max(2, row["size"]))) if count > 1 else 0.05 * count
            x, tip = _LABEL + _CELL * k, f"{names[k]}: {count}"
            out.append(
                f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_ROW - 2}" fill="#1f4e9c"'
                f' fill-opacity="{shade:.2f}" stroke="#ccc"><title>{escape(tip)}</title></rect>'
            )
    size = f'width="{_LABEL + _CELL * max(1, len(names)) + 8}" height="{_TOP + _ROW * len(rows) + 8}"'
    title = "<title>Distances in ULPs: equal to the rounded reference, less than 1, from 2^k on</title>"
    style = '<style>text{font:12px sans-serif}</style><rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{title}{style}{"".join(out)}</svg>\n'
