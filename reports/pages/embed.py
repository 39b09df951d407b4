"""Embed: a DataFrame or a part of a page, as compressed text in a page."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.formats.json_text import finite, json_of

#: zlib's number for a stream with gzip's header, without a time.
_GZIP = 31


def encode(frame: pd.DataFrame, **more: Any) -> str:
    """Base64 of gzip of a line of JSON and the codes of columns. The JSON is `{"n": rows, "columns": {…}}` and `more`.

    A column is `{"const": value}`, `{"values": […], "width": bytes}` where few values recur, or `{"list": […]}`. The
    codes of each column with a width follow in order: little-endian unsigned integers, the positions in its values.
    Floats that are not finite, in `more` as well, become `"NaN"`, `"inf"` and `"-inf"`. The alphabet is safe in HTML.
    """
    compressor, codes = _compressor(), []
    parts = [compressor.compress(f'{{"n":{len(frame)},"columns":{{'.encode())]
    for number, name in enumerate(frame.columns):
        column, more_codes = _column(frame[name])
        text = f"{',' if number else ''}{_json(str(name))}:{_json(column)}"
        parts.append(compressor.compress(text.encode()))  # at once: a column takes more memory than its text
        codes.append(more_codes)
    parts.append(compressor.compress(f"}}{',' if more else ''}{_json(more)[1:]}\n".encode()))
    parts += [compressor.compress(part) for part in codes]
    return base64.b64encode(b"".join([*parts, compressor.flush()])).decode()


def packed(text: str) -> str:
    """Base64 of gzip of a text."""
    compressor = _compressor()
    return base64.b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def _compressor() -> zlib._Compress:
    return zlib.compressobj(9, wbits=_GZIP)


def _json(data: object) -> str:
    return json_of(data, separators=(",", ":"))


def _column(column: pd.Series) -> tuple[dict[str, Any], bytes]:
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) == 1:
        return {"const": _value(values.tolist()[0])}, b""
    if len(values) <= len(column) // 2:
        width = next(w for w in (1, 2, 4) if len(values) <= 256**w)
        return {"values": [_value(v) for v in values.tolist()], "width": width}, codes.astype(f"<u{width}").tobytes()
    del codes, values
    return {"list": [_value(v) for v in column.tolist()]}, b""


def _value(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else finite(value)
