"""JSON text: data as JSON that every reader accepts; non-finite floats are texts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def finite(data: Any) -> Any:
    """JSON-able data in which texts replace the floats that JSON lacks: `nan`, `inf` and `-inf`."""
    if isinstance(data, Mapping):
        return {name: finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return repr(float(data)) if isinstance(data, float) and not math.isfinite(data) else data


def json_of(data: Any, **layout: Any) -> str:
    """`finite` data as JSON that every reader accepts."""
    try:
        return json.dumps(data, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(finite(data), allow_nan=False, **layout)


def encodable(text: str) -> str:
    """The text with lone surrogates escaped, for UTF-8; messages of TensorFlow may contain them."""
    return text.encode("utf-8", "backslashreplace").decode()
