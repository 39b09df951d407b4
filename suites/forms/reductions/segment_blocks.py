"""Segment blocks: recipes of thousands of rows, more than a block of a kernel reduces, in segments of all sizes."""

from __future__ import annotations

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.reductions.segment_recipes import COUNT
from tf_opdiff.suites.reference.reductions.segments import Reduction

#: All rows, and the rows of the largest segment.
_ROWS, _LARGEST = 4201, 1500


def blocks(how: Reduction, *, ordered: bool) -> dict[str, Recipe]:
    """A recipe with exact results: small integers, or numbers of size 1 or 2 for products."""
    return {"blocks": partial(_blocks, how, ordered)}


def _blocks(how: Reduction, ordered: bool, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    ids = draw.integers(_ROWS, low=0, high=300 if ordered else COUNT - 1)
    ids[:_LARGEST] = 5
    ids = np.sort(ids) if ordered else ids
    values = draw.integers(_ROWS, 3, low=0, high=4)
    if how.product:
        values = np.where(values == 0, -1, 1) * (1 + (np.arange(_ROWS)[:, None] % 509 == 7))
    return values.astype(dtype), ids.astype("int32")
