"""Pairs: which record of one run is the counterpart of which record of another."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.reports.data.tables import plan_order

#: What a record is known by, in every run.
KEYS = ("case", "device", "mode", "against", "quantity")


def counterparts(before: pd.DataFrame, after: pd.DataFrame) -> np.ndarray:
    """For each record of `after`, in order, the position of its counterpart in `before`, or -1; int64, none twice.

    Counterparts agree in `KEYS`. A plan is compared with the first one that is right, which may be another one in
    another run: what is left of those comparisons is paired where it is about the same two plans, the other way round,
    and then where it is about the same plan. Records that agree in all of that are paired in their order.
    """
    codes = {name: np.concatenate(common(before[name], after[name])[:2]) for name in KEYS}
    sides = zip(_sides(before), _sides(after), strict=True)
    plan, against, names = common(*(pd.concat(two, ignore_index=True) for two in sides))
    others = np.array([name != "numpy" and not name.startswith(CLAIM) for name in names], bool)
    free = others[against] & (against != plan) if len(names) else np.zeros(0, bool)
    found = np.full(len(after), -1)
    _pair(_combined(codes[name] for name in KEYS), np.ones(len(free), bool), found, len(before))
    both = [np.minimum(plan, against), np.maximum(plan, against)]
    _pair(_combined([codes["case"], codes["quantity"], *both]), free, found, len(before))
    _pair(_combined([codes["case"], codes["quantity"], plan]), free, found, len(before))
    return found


def common(before: pd.Series, after: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A number for each value of the one and of the other column, alike in both, and the texts that they number."""
    columns = [column.astype("category").cat for column in (before, after)]
    texts = np.array([str(name) for column in columns for name in column.categories], dtype=object)
    ids, names = pd.factorize(texts)
    split = len(columns[0].categories)
    old, new = ids[:split], ids[split:]
    return _of(old, columns[0].codes), _of(new, columns[1].codes), np.asarray(names, dtype=object)


def plans(frame: pd.DataFrame) -> pd.Series:
    """`reports.tables.plans`, worked out once for each device and mode instead of once for each row."""
    device, mode = (frame[name].astype("category").cat for name in ("device", "mode"))
    many = len(mode.categories)
    pairs, inverse = np.unique(device.codes.to_numpy().astype(np.int64) * many + mode.codes, return_inverse=True)
    texts = np.array([f"{device.categories[p // many]}/{mode.categories[p % many]}" for p in pairs], dtype=object)
    names = sorted(set(texts.tolist()), key=plan_order)
    at = np.array([names.index(text) for text in texts], np.int64)
    dtype = pd.CategoricalDtype(pd.Index(names, dtype="str"))
    return pd.Series(pd.Categorical.from_codes(_of(at, inverse), dtype=dtype), index=frame.index)


def _sides(records: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return plans(records).astype("str"), records["against"].astype("str")


def _of(ids: np.ndarray, codes: ArrayLike) -> np.ndarray:
    at = np.asarray(codes)
    return ids[at] if len(ids) else np.zeros(len(at), np.int64)


def _pair(keys: np.ndarray, usable: np.ndarray, found: np.ndarray, split: int) -> None:
    """Pairs what is usable, has no counterpart yet, and has equal keys; the first `split` keys are those of before."""
    taken = np.zeros(split, bool)
    taken[found[found >= 0]] = True
    left = np.flatnonzero(usable[:split] & ~taken)
    right = np.flatnonzero(usable[split:] & (found < 0))
    if not len(left) or not len(right):
        return
    old, new = keys[left], keys[split + right]
    nth = [pd.Series(k).groupby(k).cumcount().to_numpy() for k in (old, new)]
    both = _combined([np.concatenate([old, new]), np.concatenate(nth)])
    at = pd.Index(both[: len(old)]).get_indexer(both[len(old) :])
    found[right[at >= 0]] = left[at[at >= 0]]


def _combined(columns: Iterable[np.ndarray]) -> np.ndarray:
    """One number for each combination of numbers."""
    made: np.ndarray | None = None
    for column in columns:
        small = pd.factorize(column)[0]
        made = small if made is None else pd.factorize(made * (int(small.max(initial=0)) + 1) + small)[0]
    assert made is not None
    return made
