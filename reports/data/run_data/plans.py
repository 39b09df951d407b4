"""Plans: the names of plans in records, sorted and as a column; `harness.spec.plan.PlanName` reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.plan import MODES, PlanName


def plan_order(plan: object) -> tuple[bool, str, int, str]:
    """The key that sorts plans, given as `PlanName` or as text: the CPU first, then devices by name, then modes."""
    name = plan if isinstance(plan, PlanName) else PlanName.parse(str(plan)) or PlanName("", str(plan))
    return name.device != "cpu", name.device, *mode_order(name.mode)


def mode_order(mode: str) -> tuple[int, str]:
    """The key that sorts modes as the harness lists them; others, which a file may name, come last."""
    return MODES.index(mode) if mode in MODES else len(MODES), mode


def in_order(names: Iterable[str]) -> list[str]:
    """The distinct names of plans, sorted by `plan_order`."""
    return sorted(set(names), key=plan_order)


def joined(names: Iterable[str]) -> str:
    """The distinct names of plans in one text, sorted: `cpu/eager cpu/xla`."""
    return " ".join(in_order(names))


def plans(records: pd.DataFrame) -> pd.Series:
    """The plan of each record, written `cpu/xla`, as a category in the order of `plan_order`.

    Builds each name once for each device and mode, not once for each record.
    """
    device, mode = (records[name].astype("category").cat for name in ("device", "mode"))
    mode_count = len(mode.categories)
    pairs, inverse = np.unique(device.codes.to_numpy().astype(np.int64) * mode_count + mode.codes, return_inverse=True)
    texts = [f"{device.categories[p // mode_count]}/{mode.categories[p % mode_count]}" for p in pairs]
    names = in_order(texts)
    codes = np.array([names.index(text) for text in texts], np.int64)
    codes = codes[inverse] if len(codes) else np.zeros(len(records), np.int64)
    dtype = pd.CategoricalDtype(pd.Index(names, dtype="str"))
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=records.index)
