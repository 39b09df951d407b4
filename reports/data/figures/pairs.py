"""Pairs: the records of one run and their counterparts in another run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.data.run_data.plans import plans

#: The columns that identify a record in every run.
KEYS = ("case", "device", "mode", "against", "quantity")


def counterparts(before: pd.DataFrame, after: pd.DataFrame) -> np.ndarray:
    """For each record of `after`, in order, the position of its counterpart in `before`, or -1; int64, none twice.

    Counterparts agree in `KEYS`. A plan is compared with the first plan that is right, which may be another plan in
    another run. So the comparisons of plans without a counterpart are paired if they are about the same two plans, the
    other way round, and then if they are about the same plan. Records that agree in all of that are paired in order.
    """
    codes = {name: np.concatenate(common(before[name], after[name])[:2]) for name in KEYS}
    sides = zip(_sides(before), _sides(after), strict=True)
    plan, against, names = common(*(pd.concat(both, ignore_index=True) for both in sides))
    is_other_plan = np.array([name != "numpy" and not name.startswith(CLAIM) for name in names], bool)
    movable = is_other_plan[against] & (against != plan) if len(names) else np.zeros(0, bool)
    partner = np.full(len(after), -1)
    _pair(_combined(codes[name] for name in KEYS), np.ones(len(movable), bool), partner, len(before))
    two_plans = [np.minimum(plan, against), np.maximum(plan, against)]
    _pair(_combined([codes["case"], codes["quantity"], *two_plans]), movable, partner, len(before))
    _pair(_combined([codes["case"], codes["quantity"], plan]), movable, partner, len(before))
    return partner


def common(before: pd.Series, after: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the values of two columns, the same for the same text, and the texts by their codes."""
    columns = [column.astype("category").cat for column in (before, after)]
    texts = np.array([str(name) for column in columns for name in column.categories], dtype=object)
    ids, names = pd.factorize(texts)
    split = len(columns[0].categories)
    old, new = ids[:split], ids[split:]
    return _taken(old, columns[0].codes), _taken(new, columns[1].codes), np.asarray(names, dtype=object)


def _sides(records: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return plans(records).astype("str"), records["against"].astype("str")


def _taken(ids: np.ndarray, codes: ArrayLike) -> np.ndarray:
    positions = np.asarray(codes)
    return ids[positions] if len(ids) else np.zeros(len(positions), np.int64)


def _pair(keys: np.ndarray, usable: np.ndarray, partner: np.ndarray, split: int) -> None:
    """Pairs usable records with equal keys that have no partner yet; the first `split` keys are those of before.

    Writes the positions into `partner`.
    """
    paired = np.zeros(split, bool)
    paired[partner[partner >= 0]] = True
    left = np.flatnonzero(usable[:split] & ~paired)
    right = np.flatnonzero(usable[split:] & (partner < 0))
    if not len(left) or not len(right):
        return
    old, new = keys[left], keys[split + right]
    nth = [pd.Series(k).groupby(k).cumcount().to_numpy() for k in (old, new)]
    both = _combined([np.concatenate([old, new]), np.concatenate(nth)])
    positions = pd.Index(both[: len(old)]).get_indexer(both[len(old) :])
    partner[right[positions >= 0]] = left[positions[positions >= 0]]


def _combined(columns: Iterable[np.ndarray]) -> np.ndarray:
    """One number for each combination of numbers."""
    combined: np.ndarray | None = None
    for column in columns:
        small = pd.factorize(column)[0]
        step = int(small.max(initial=0)) + 1
        combined = small if combined is None else pd.factorize(combined * step + small)[0]
    assert combined is not None
    return combined
