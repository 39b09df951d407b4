"""Rows: the rows of a DataFrame as plain dictionaries."""

from __future__ import annotations

from typing import Any

import pandas as pd


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain data."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def row(records: pd.DataFrame, index: int) -> dict[str, Any]:
    """The record at an index, as plain data."""
    return {str(name): value for name, value in records.loc[index].items()}
