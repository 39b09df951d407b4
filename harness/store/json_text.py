"""JSON text: data as JSON that every reader takes, non-finite floats as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def finite(data: Any) -> Any:
    """JSON-able data with text in place of the floats that JSON has no way to write: `nan`, `inf` and `-inf`."""
    if isinstance(data, Mapping):
        return {name: finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return repr(float(data)) if isinstance(data, float) and not math.isfinite(data) else data


def json_of(data: Any, **layout: Any) -> str:
    """`finite` data as JSON that every reader takes."""
    try:
        return json.dumps(data, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(finite(data), allow_nan=False, **layout)


def encodable(text: str) -> str:
    """A text that UTF-8 can hold: lone surrogates, which a message of TensorFlow's may hold, are written out."""
    return text.encode("utf-8", "backslashreplace").decode()
