"""Searched: the largest errors that searches found, as a part of the atlas in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tf_opdiff.reports.data.figures.accuracy import input_text, modes_text
from tf_opdiff.reports.text.sentences.markdown import code, escape, table
from tf_opdiff.reports.text.sentences.sentence import number

Row = Mapping[str, Any]
_HEADS = (
    *("op", "dtype", "result", "modes", "largest error found, ULP", "at", "got", "exact", "wrong class at"),
    "inputs tried",
)
_ABOUT = """Float64 has too many inputs to try all, and so has every op of two inputs. `sweep OP --search N` looks for
the largest error instead. It samples equal parts of all bit patterns, and the neighbours of special numbers and of the
worst float32 inputs. It keeps the parts with the largest errors, cuts them, samples again, and so on until a part is
one number: the [method](https://members.loria.fr/PZimmermann/papers/accuracy.pdf) of Gladman, Innocente, Mather and
Zimmermann. Eager and XLA lead the search.

- Every figure is that of a sample: a **lower bound**, marked with ≥. The exact result of each worst input is computed
  again with 160 bits, or in long double where IEEE 754 and the C standard define it.
- Subnormal inputs, and results next to the subnormal numbers, are left out: specs of their own are about them.
- **Wrong class** names one input whose result is NaN, infinite or a zero of a sign where another class is exact.
- Ops whose spec promises nothing for all floats are searched within the domain of that spec.
- A gradient is the derivative times an upstream between 1 and 3 in size, rounded once.
- Modes in one row have the same bits on all worst inputs of the op. Function and graph ran the worst inputs only.
"""


def searched(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """The lines about searches, with a table for each file; none without searches."""
    lines: list[str] = []
    for name, rows in tables.items():
        several = f" on {code(name)}" if len(tables) > 1 else ""
        lines += [f"## Largest errors found by searches{several}", "", *_ABOUT.splitlines(), ""]
        for quantity, word in (("output", "Values"), ("grad", "Gradients")):
            mine = [row for row in rows if row["quantity"].startswith(quantity)]
            if mine:
                lines += [f"### {word} that were searched{several}", "", *table(list(_HEADS), list(_lines(mine))), ""]
        processors = sorted({(row["tf"], row["processor"], row["date"]) for row in rows})
        lines += [f"- TensorFlow {escape(tf)} on {escape(machine)}, {date}." for tf, machine, date in processors]
        lines += [""]
    return lines


def cells(rows: Iterable[Row]) -> dict[str, dict[tuple[str, str], str]]:
    """The text of the largest error of values by op, and by dtype and mode; of float64 alone, which has no sweeps."""
    distances: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        if (row["quantity"], row["dtype"], row["attrs"]) == ("output[0]", "float64", ""):
            for mode in modes_text(row["mode"], row["same_bits"]).split(", "):
                distances.setdefault(row["spec"], {})[row["dtype"], mode] = _distance(row)
    return distances


def _lines(rows: Iterable[Row]) -> Iterator[list[str]]:
    """The lines of a table."""
    for row in rows:
        exact = row["max_ulp"] == 0
        yield [
            ", ".join(filter(None, [row["spec"], row["attrs"]])),
            row["dtype"],
            {"output[0]": "value", "grad[0]": "gradient"}.get(row["quantity"], escape(row["quantity"])),
            modes_text(row["mode"], row["same_bits"]),
            _distance(row),
            "–" if exact else _inputs(row["dtype"], row["worst"].split(";")),
            "–" if exact else row["got"],
            "–" if exact else row["want"],
            "; ".join(_wrong(row["dtype"], text) for text in row["wrong"].split()),
            f"{row['tried']:,}",
        ]


def _distance(row: Row) -> str:
    return "≥ " + number(float(f"{row['max_ulp']:.4g}"))


def _inputs(dtype: str, patterns: Sequence[str]) -> str:
    return ", ".join(input_text(dtype, int(pattern, 16)) for pattern in patterns)


def _wrong(dtype: str, text: str) -> str:
    """A kind, and the inputs of a result of that kind."""
    kind, *patterns = text.split(";")
    return f"{escape(kind)}: {_inputs(dtype, patterns)}"
