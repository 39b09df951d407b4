"""Bounded: texts of records cut to a size that a page can show."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

#: The most characters of a text of a record, or of any other text that a template writes.
MOST = 2_000


def bounded(text: str, most: int = MOST) -> str:
    """The text, or its first `most` characters and how many are left out."""
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]} … {more:,} more characters; the record has the whole"


def finalized(value: Any) -> Any:
    """A value that a template writes: a plain text is bounded, and finished markup stays."""
    return bounded(value) if type(value) is str and not isinstance(value, Markup) else value


def bounded_records(records: pd.DataFrame) -> pd.DataFrame:
    """The records of a run with bounded texts, in columns of the same dtypes; the frame itself if no text is longer."""
    columns = {str(name): column for name in records if (column := _bounded_column(records[name])) is not None}
    return records.assign(**columns) if columns else records


def _bounded_column(column: pd.Series) -> pd.Series | None:
    """The column with bounded texts; None if it has no longer text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = column.cat.categories
        if not any(isinstance(name, str) and len(name) > MOST for name in names):
            return None
        shorter = {name: bounded(name) if isinstance(name, str) else name for name in names}
        ordered = pd.CategoricalDtype(list(dict.fromkeys(shorter.values())), column.cat.ordered)
        return column.map(shorter).astype(ordered)
    if column.dtype.kind in "biufcmM" or not len(column) or int(column.str.len().max() or 0) <= MOST:
        return None
    return column.map(bounded).astype(column.dtype)
