"""Paths: rows of bars and blocks as the data of a path in SVG, as short as they can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np


def bars(heights: np.ndarray, foot: int) -> str:
    """The outline of bars that are one unit wide and stand on y = `foot`; empty if all heights are 0."""
    if not heights.any():
        return ""
    path, now = f"M0 {foot}", 0
    for height, n in _runs(heights.tolist()):
        path += (f"v{now - height}" if height != now else "") + f"h{n}"
        now = height
    return f"{path}V{foot}z"


def blocks(flags: np.ndarray, y: int, height: int) -> str:
    """Blocks from `y` down where flags are true, one unit wide each; empty if all are false."""
    path, at = "", 0
    for flag, n in _runs(flags.tolist()):
        path += f"M{at} {y}h{n}v{height}h-{n}z" if flag else ""
        at += n
    return path


def _runs(values: Iterable[int]) -> list[tuple[int, int]]:
    """Each value, and how often it follows itself."""
    return [(value, len(list(same))) for value, same in itertools.groupby(values)]
