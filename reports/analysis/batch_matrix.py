"""Batch matrix: by op, mode and size of a batch, whether a row gives the same bits alone, from the records of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tf_opdiff.harness.device.repeat import ROW_CHECKS
from tf_opdiff.harness.judge.differences.self_check import OTHER_BITS
from tf_opdiff.harness.spec.inputs.recipes import ROWS
from tf_opdiff.harness.spec.plan import MODES

#: State of a cell → its meaning.
STATES: Mapping[str, str] = {
    "same bits": "Every compared row has the same bits alone, in the batch, and beside rows of NaN and infinities.",
    "other bits": "A row has other bits, within the budget of the op. The number is the largest distance in ULP. It "
    "is large where the terms of a sum cancel.",
    "discrepancy": "A row differs beyond the budget (batch), or NaN or infinities in other rows change it (leak).",
    "no kernel": "TensorFlow registers no kernel there.",
    "no result": "The run gave no result to compare, or differs from itself in another way.",
    "not run": "This run did not run it: the mode or the tier was not selected, or the op can't be expressed there.",
}
_SIZE = re.compile(rf"{ROWS}(\d+)")


@dataclass(frozen=True)
class Cell:
    """One op, mode and size: its state, the text of the cell, and the quantities behind it."""

    state: str
    text: str = ""
    title: str = ""


NOT_RUN = Cell("not run", "–", "not run")


@dataclass(frozen=True)
class Line:
    """An op on a device: its name, its OpDefs, a spec of it, and its cells in the order of the columns."""

    name: str
    ops: str
    spec: str
    device: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class BatchMatrix:
    """The cells of a run.

    Attributes:
      sizes: the sizes of batches that the run has.
      modes: all modes; the columns are the sizes of the first mode, then those of the second, …
      lines: one for each op and device, in the order of names.
    """

    sizes: tuple[int, ...]
    lines: tuple[Line, ...]
    modes: Sequence[str] = MODES

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells of each state."""
        states = [cell.state for line in self.lines for cell in line.cells]
        return {state: states.count(state) for state in STATES}


def batch_matrix(records: pd.DataFrame) -> BatchMatrix | None:
    """The matrix of the batches among these records; None if there are no batches."""
    names = records["spec"].astype(str)
    sizes = records["recipe"].astype(str).str.fullmatch(_SIZE.pattern)
    own = records[sizes & names.str.contains("-batches")]
    if own.empty:
        return None
    own = own.assign(
        size=own["recipe"].astype(str).str.removeprefix(ROWS).astype(int),
        name=own["spec"].astype(str).str.partition("-batches")[0],
        itself=own["against"].astype(str) == own["device"].astype(str) + "/" + own["mode"].astype(str),
    )
    columns = tuple(sorted(own["size"].unique().tolist()))
    lines = []
    for (name, device), rows in own.groupby(["name", "device"], observed=True, sort=True):
        cells = dict(iter(rows.groupby(["mode", "size"], observed=True)))
        each = tuple(_cell(cells[m, n]) if (m, n) in cells else NOT_RUN for m in MODES for n in columns)
        ops = next((op for op in rows["raw_op"].astype(str) if op), "")
        lines.append(Line(str(name), ops, str(rows["spec"].iloc[0]), str(device), each))
    return BatchMatrix(columns, tuple(lines))


def _cell(rows: pd.DataFrame) -> Cell:
    """The cell of the records of one op, device, mode and size."""
    itself = rows[rows["itself"]]
    kinds = {kind for text in itself["kinds"].astype(str) for kind in text.split(";")} - {""}
    if found := [kind for kind in ROW_CHECKS if kind in kinds]:
        differing = itself[itself["kinds"].astype(str).str.contains("|".join(ROW_CHECKS))]
        known = " (known)" if (differing["verdict"] == "known").all() else ""
        return Cell("discrepancy", " ".join(found) + known, _title(differing))
    if itself.empty or kinds:
        missing = (rows["verdict"] == "unavailable").any()
        return Cell("no kernel", "∅", "no kernel") if missing else Cell("no result", "!", _title(rows))
    other = itself[itself["detail"].astype(str).str.contains(OTHER_BITS, regex=False)]
    if other.empty:
        return Cell("same bits", "=", f"the same bits in {len(itself)} quantities")
    farthest = other["max_ulp"].max()
    return Cell("other bits", f"{farthest:.3g}" if farthest < 1000 else f"{farthest:,.0f}", _title(other))


def _title(rows: pd.DataFrame) -> str:
    """The quantities of some records, with the distance and the budget where they have one."""
    texts = []
    for quantity, ulps, budget in zip(rows["quantity"], rows["max_ulp"], rows["budget"], strict=True):
        off = "" if np.isnan(ulps) else f" {ulps:.3g} ULP"
        allowed = "" if np.isnan(budget) else f" of {budget:.3g} allowed"
        texts.append(f"{quantity}{off}{allowed}")
    return ", ".join(dict.fromkeys(texts))
