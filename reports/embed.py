"""Embed: a DataFrame as compressed text inside a page."""

from __future__ import annotations

import base64
import gzip
import json
import math
from typing import Any

import pandas as pd


def encode(frame: pd.DataFrame, **more: Any) -> str:
    """Base64 of gzip of JSON: `{"n": rows, "columns": {name: column}}` and `more`; the alphabet is safe in HTML.

    A column is `{"const": value}`, `{"values": […], "codes": […]}` where few values recur, or `{"list": […]}`. Floats
    that are not finite stand as `"NaN"`, `"inf"` and `"-inf"`.
    """
    data = {"n": len(frame), "columns": {str(name): _column(frame[name]) for name in frame.columns}} | more
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _column(column: pd.Series) -> dict[str, Any]:
    codes, values = pd.factorize(column, use_na_sentinel=False)
    distinct = [_value(v) for v in values.tolist()]
    if len(distinct) == 1:
        return {"const": distinct[0]}
    if len(distinct) <= len(column) // 2:
        return {"values": distinct, "codes": codes.tolist()}
    return {"list": [_value(v) for v in column.tolist()]}


def _value(value: Any) -> Any:
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value
