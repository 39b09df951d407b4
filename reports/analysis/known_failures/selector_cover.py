"""Cover: few products of selectors that select exactly some of a run's places, as entries of known failures do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

#: Selector → the values that it allows, in order.
Box = dict[str, list[str]]


def cover(places: pd.DataFrame, wanted: np.ndarray) -> list[Box]:
    """Boxes that together hold every wanted row of `places` and no other row; a single box where one is enough.

    A box holds the rows whose value in every column is among the allowed ones. A place that did not run is no row: a
    box may hold it or not. The search is greedy: a box is grown from a wanted row in several orders of the columns, and
    the box that holds most rows counts. There may be a cover by fewer boxes.

    Args:
      places: one row a place, one column a selector.
      wanted: a bool for each row.

    Raises:
      ValueError: a wanted row has the same values as a row that is not wanted.
    """
    factored = {str(name): pd.factorize(places[name].astype(str), sort=True) for name in places.columns}
    codes = np.stack([code for code, _ in factored.values()], axis=1)
    values = [list(map(str, names)) for _, names in factored.values()]
    if {*map(tuple, codes[wanted].tolist())} & {*map(tuple, codes[~wanted].tolist())}:
        raise ValueError("a wanted place has the same selectors as a place that is not wanted")
    boxes: list[Box] = []
    left = wanted.copy()
    whole = [np.isin(np.arange(len(v)), codes[wanted, i]) for i, v in enumerate(values)]
    while left.any():
        grown = [whole] if not boxes and not (_held(codes, whole) & ~wanted).any() else []
        seed = codes[np.flatnonzero(left)[0]]
        grown = grown or [_grow(codes, wanted, whole, seed, order) for order in _orders(codes.shape[1])]
        best = max(grown, key=lambda box: int((_held(codes, box) & left).sum()))
        left &= ~_held(codes, best)
        boxes.append({n: [values[i][j] for j in np.flatnonzero(best[i])] for i, n in enumerate(factored)})
    return boxes


def holds(places: pd.DataFrame, box: Box) -> np.ndarray:
    """Which rows a box holds, as bools; a column that the box does not name may have any value."""
    held = np.ones(len(places), bool)
    for name, allowed in box.items():
        held &= places[name].astype(str).isin(allowed).to_numpy()
    return held


def _held(codes: np.ndarray, box: list[np.ndarray]) -> np.ndarray:
    held = np.ones(len(codes), bool)
    for i, allowed in enumerate(box):
        held &= allowed[codes[:, i]]
    return held


def _grow(
    codes: np.ndarray, wanted: np.ndarray, whole: list[np.ndarray], seed: np.ndarray, order: tuple[int, ...]
) -> list[np.ndarray]:
    """The box of one row, widened column by column with every value that adds no unwanted row."""
    box = [np.arange(len(w)) == at for w, at in zip(whole, seed, strict=True)]
    bad = codes[~wanted]
    for i in order:
        others = np.ones(len(bad), bool)
        for j, allowed in enumerate(box):
            others &= allowed[bad[:, j]] | (j == i)
        barred = np.isin(np.arange(len(whole[i])), bad[others, i])
        box[i] = whole[i] & ~barred
    return box


def _orders(columns: int) -> Iterator[tuple[int, ...]]:
    """The numbers of the columns, from each column on, forwards and backwards."""
    for start in range(columns):
        forwards = tuple((start + i) % columns for i in range(columns))
        yield forwards
        yield forwards[::-1]
