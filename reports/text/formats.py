"""Formats: a table as plain text, Markdown or CSV; its cells may hold any text."""

from __future__ import annotations

import csv as quoting
import re
from collections.abc import Callable

import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import markdown as escaping
from tf_opdiff.reports.text.sentences import sentence

WIDTH = 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: A character with which spreadsheets begin a formula, in full width as well, perhaps behind spaces.
_FORMULA = re.compile(r" *[=+\-@\uff1d\uff0b\uff0d\uff20]")
#: A formula behind a semicolon. Where commas are decimal points, semicolons separate columns, and a spreadsheet splits
#: a file at them, even inside quotation marks.
_INNER = re.compile(r"(;[\s\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def text(table: pd.DataFrame) -> str:
    """Aligned columns: numbers to the right, words cut at 60 characters, and no control characters."""
    columns = {str(name): _shown(table[name], lambda cell: plain(cell, WIDTH) or "-") for name in table.columns}
    widths = {name: max(map(len, [name, *cells])) for name, cells in columns.items()}
    right = {name: _right(table[name]) for name in columns}
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    aligned = (
        "  ".join(
            cell.rjust(widths[name]) if right[name] else cell.ljust(widths[name])
            for name, cell in zip(columns, line, strict=True)
        ).rstrip()
        for line in lines
    )
    return "\n".join(aligned) + "\n"


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, every word escaped; numbers to the right."""
    columns = {str(name): _shown(table[name], escaping.escape) for name in table.columns}
    rule = ["---:" if _right(table[name]) else "---" for name in columns]
    lines = [[escaping.escape(name) for name in columns], rule, *zip(*columns.values(), strict=True)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def csv(table: pd.DataFrame) -> str:
    """Comma-separated values without formulas; numbers in full.

    Text that a spreadsheet would read as a formula, at the beginning of a cell or behind a semicolon, is prefixed with
    an apostrophe. Control characters become spaces. Words are in quotation marks; numbers are unchanged.
    """
    words = [name for name in table.columns if not _right(table[name]) and not is_bool_dtype(table[name])]
    safe = table.assign(**{name: table[name].astype("str").map(defused).astype("str") for name in words})
    return safe.to_csv(index=False, lineterminator="\n", quoting=quoting.QUOTE_NONNUMERIC)


def defused(cell: str) -> str:
    """A cell's text, changed so that a spreadsheet shows it and never evaluates it."""
    cell = _INNER.sub(r"\1'", _CONTROL.sub(" ", cell))
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def _right(column: pd.Series) -> bool:
    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _shown(column: pd.Series, word: Callable[[str], str]) -> list[str]:
    if is_bool_dtype(column):
        return ["yes" if value else "no" for value in column]
    if is_float_dtype(column):
        return [sentence.number(value) for value in column]
    if is_numeric_dtype(column):
        return [f"{value:,}" for value in column]
    return [word(str(value)) for value in column]


#: The formats of a table as text, by name.
FORMATS: dict[str, Callable[[pd.DataFrame], str]] = {"text": text, "markdown": markdown, "csv": csv}
#: The format of a file by its suffix; a file without one holds text.
FORMAT_OF_SUFFIX = {"": "text", ".txt": "text", ".md": "markdown", ".csv": "csv", ".parquet": "parquet"}
