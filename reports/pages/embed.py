"""Embed: a DataFrame as compressed text in a page."""

from __future__ import annotations

import base64
import gzip
import math
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.json_text import finite, json_of


def encode(frame: pd.DataFrame, **more: Any) -> str:
    """Base64 of gzip of a line of JSON and the codes of columns. The JSON is `{"n": rows, "columns": {…}}` and `more`.

    A column is `{"const": value}`, `{"values": […], "width": bytes}` where few values recur, or `{"list": […]}`. The
    codes of each column with a width follow in order: little-endian unsigned integers, the positions in its values.
    Floats that are not finite, in `more` as well, become `"NaN"`, `"inf"` and `"-inf"`. The alphabet is safe in HTML.
    """
    columns, codes = {}, []
    for name in frame.columns:
        columns[str(name)], more_codes = _column(frame[name])
        codes.append(more_codes)
    text = json_of({"n": len(frame), "columns": columns} | more, separators=(",", ":"))
    data = b"".join([text.encode(), b"\n", *codes])
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode()


def _column(column: pd.Series) -> tuple[dict[str, Any], bytes]:
    codes, values = pd.factorize(column, use_na_sentinel=False)
    distinct = [_value(v) for v in values.tolist()]
    if len(distinct) == 1:
        return {"const": distinct[0]}, b""
    if len(distinct) <= len(column) // 2:
        width = next(w for w in (1, 2, 4) if len(distinct) <= 256**w)
        return {"values": distinct, "width": width}, codes.astype(f"<u{width}").tobytes()
    return {"list": [_value(v) for v in column.tolist()]}, b""


def _value(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else finite(value)
