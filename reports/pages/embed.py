"""Embed: a DataFrame as compressed text in a page."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.json_text import finite, json_of

#: zlib's number for a stream with gzip's header, without a time.
_GZIP = 31


def encode(frame: pd.DataFrame, **more: Any) -> str:
    """Base64 of gzip of a line of JSON and the codes of columns. The JSON is `{"n": rows, "columns": {…}}` and `more`.

    A column is `{"const": value}`, `{"values": […], "width": bytes}` where few values recur, or `{"list": […]}`. The
    codes of each column with a width follow in order: little-endian unsigned integers, the positions in its values.
    Floats that are not finite, in `more` as well, become `"NaN"`, `"inf"` and `"-inf"`. The alphabet is safe in HTML.
    """
    columns, codes = [], []
    for name in frame.columns:
        column, more_codes = _column(frame[name])
        columns.append(f"{_json(str(name))}:{_json(column)}")  # as text at once: it takes less memory than its values
        codes.append(more_codes)
    head, rest = f'{{"n":{len(frame)},"columns":{{', _json(more)[1:]
    text = "".join([head, ",".join(columns), "}", "," if more else "", rest])
    columns.clear()
    compressor = zlib.compressobj(6, wbits=_GZIP)
    parts = [compressor.compress(part) for part in (text.encode(), b"\n", *codes)]
    return base64.b64encode(b"".join([*parts, compressor.flush()])).decode()


def _json(data: object) -> str:
    return json_of(data, separators=(",", ":"))


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
