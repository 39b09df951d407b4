"""Bits of changes: changes of verdicts read in the light of a bitwise comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.comparisons.bits import KEYS
from tf_opdiff.reports.data.figures.pairs import common

_DIFFER, _SAME, _UNKNOWN = 1, 0, -1


def with_changed_inputs(changes: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The changes, with `inputs_changed` also for cases whose inputs changed although their seed did not.

    Such a case is recognised by a quantity that matches NumPy in both runs, but moved farther than its distances from
    NumPy in both runs together: so the result of NumPy moved. Records do not hold the inputs, and a seed stands for
    them only as long as its recipe stays the same. Distances of such a case are not compared.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff`.
      numbers: the result of `reports.analysis.comparisons.bits.compared`.
    """
    sound = (changes["against"] == "numpy") & (changes["verdict"] == "match") & (changes["verdict_before"] == "match")
    rows = np.flatnonzero(sound & ~changes["inputs_changed"])
    some = changes.iloc[rows]
    position = _positions(numbers, [some[name] for name in KEYS])
    some, position = some[position >= 0], position[position >= 0]
    moves = numbers.iloc[position]
    with np.errstate(over="ignore"):
        allowed = some["max_abs_before"].fillna(0.0).to_numpy() + some["max_abs"].fillna(0.0).to_numpy()
    near = moves["absolute"].to_numpy() / 1.001 <= allowed
    far = ~near & (moves["numbers"] == "differ").to_numpy()
    has_new_inputs = np.zeros(len(changes["case"].cat.categories) + 1, bool)
    has_new_inputs[some["case"].cat.codes.to_numpy()[far]] = True
    paired = (changes["before"] >= 0).to_numpy() & (changes["after"] >= 0).to_numpy()
    hit = has_new_inputs[changes["case"].cat.codes] & paired
    drifted = hit & (changes["change"] == "drifted").to_numpy()
    return changes.assign(
        change=changes["change"].mask(drifted, "unchanged"),
        worse=changes["worse"] & ~drifted,
        inputs_changed=changes["inputs_changed"] | hit,
    )


def with_numbers(changes: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The changes with the column `numbers`: whether TensorFlow's own numbers are the `same` or `differ`.

    If they are the same, the oracle changed, so a drifted record is no worse. The column is empty where the numbers are
    not known, or the inputs changed. For a plan that is compared with another plan, the numbers of both count. A rerun
    of a plan is not recorded, so for a plan that is compared with itself the same numbers prove nothing.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff`.
      numbers: the result of `reports.analysis.comparisons.bits.compared`.
    """
    cell = [changes[name] for name in KEYS]
    oracle = changes["against"].cat
    plans = [PlanName.parse(str(name)) for name in oracle.categories]
    sides = [plan or PlanName("", "") for plan in plans]
    device, mode = (
        pd.Series(np.array(column, object)[oracle.codes]).set_axis(changes.index)
        for column in ([side.device for side in sides], [side.mode for side in sides])
    )
    against_plan = np.array([plan is not None for plan in plans], bool)[oracle.codes]
    own = _states(numbers, cell)
    theirs = _states(numbers, [cell[0], device, mode, cell[3]])
    both = np.where(against_plan, np.maximum(own, theirs), own)
    against_itself = _same_text(changes["against"], changes["plan"])
    unclear = against_plan & ((np.minimum(own, theirs) == _UNKNOWN) | against_itself) & (both != _DIFFER)
    both = np.where(unclear | changes["inputs_changed"].to_numpy(), _UNKNOWN, both)
    names = np.array(["same", "differ", ""], dtype=object)[both]
    oracle_changed = (names == "same") & (changes["change"] == "drifted").to_numpy()
    column = pd.Categorical(names, categories=["", "same", "differ"])
    return changes.assign(worse=changes["worse"] & ~oracle_changed, numbers=column)


def _same_text(left: pd.Series, right: pd.Series) -> np.ndarray:
    codes_left, codes_right, _ = common(left, right)
    return codes_left == codes_right


def _states(numbers: pd.DataFrame, cell: list[pd.Series]) -> np.ndarray:
    """1 where the numbers of a cell differ, 0 where they are the same, -1 where they are not known."""
    states = np.where((numbers["numbers"] == "differ").to_numpy(), _DIFFER, _SAME)
    return np.append(states, _UNKNOWN)[_positions(numbers, cell)]


def _positions(numbers: pd.DataFrame, cell: list[pd.Series]) -> np.ndarray:
    """The position of each cell in `numbers`; -1 for a cell that is not there."""
    cells = pd.DataFrame(dict(zip(KEYS, cell, strict=True))).reset_index(drop=True)
    keys: np.ndarray | int = 0
    for name in KEYS:
        in_numbers, in_cells, texts = common(numbers[name], cells[name])
        keys = pd.factorize(np.asarray(keys) * (len(texts) + 1) + np.concatenate([in_numbers, in_cells]))[0]
    present, wanted = np.asarray(keys)[: len(numbers)], np.asarray(keys)[len(numbers) :]
    position = np.full(int(max(present.max(initial=-1), wanted.max(initial=-1))) + 1, -1)
    position[present] = np.arange(len(numbers))
    return position[wanted]
