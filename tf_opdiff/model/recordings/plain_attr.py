"""Plain attribute: an attribute of an op in one form, whether eager mode or a graph gave it."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain_attr(value: Any) -> Any:
    """An attribute's value; None for a value that is no number, text or boolean, nor a list of these.

    A graph keeps floats as float32, eager mode gives those of Python.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        entries = [plain_attr(entry) for entry in value]
        return None if None in entries else entries
    if isinstance(value, float):
        return float(str(np.float32(value)))  # the shortest number: messages show it
    return value if isinstance(value, (bool, int, str)) else None
