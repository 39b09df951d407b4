"""Override devices: how many cells of the override matrix ran on each GPU and other accelerator, and which did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from tf_opdiff.harness.repro.override_listing import OverrideData
from tf_opdiff.harness.spec.lists.override_cell import INEXPRESSIBLE
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.claim_tables.claim_words import device_type
from tf_opdiff.reports.analysis.overrides.override_matrix import NOT_RUN, UNAVAILABLE, UNEXPECTED
from tf_opdiff.reports.data.run_data.rows import rows

#: The results and gradients are those that the suites promise on the device, or a known failure has the difference.
KEPT = "as promised"
#: The states of a cell on such a device, and their words on the page.
DEVICE_STATES: Mapping[str, str] = {
    KEPT: "as promised",
    UNEXPECTED: "other than promised",
    UNAVAILABLE: "a kernel or a compiler is missing",
    NOT_RUN: "did not run",
}


class _Program(NamedTuple):
    """A cell that has a program; the spec runs in `runs_in`, which is not the cell's mode if Keras fits a model."""

    op: str
    mechanism: str
    place: str
    mode: str
    spec: str
    runs_in: str


@dataclass(frozen=True)
class OverrideDevice:
    """The cells of one device that is no CPU.

    Attributes:
      device: its name.
      counts: mechanism → state → the number of cells.
      absent: state → lines that say which cells have it, for the states that prove nothing: where a kernel is missing,
        by mechanism; where nothing ran, by place.
    """

    device: str
    counts: Mapping[str, Mapping[str, int]]
    absent: Mapping[str, tuple[str, ...]]

    @property
    def ran(self) -> int:
        """The number of cells with a result."""
        return sum(by_state[state] for by_state in self.counts.values() for state in (KEPT, UNEXPECTED))


def programs(overrides: Sequence[OverrideData]) -> int:
    """The number of cells that have a program."""
    return sum(1 for _ in _programs(overrides))


def override_devices(records: pd.DataFrame, overrides: Sequence[OverrideData]) -> tuple[OverrideDevice, ...]:
    """The devices of a run that are no CPUs, by name, also those on which no override ran.

    Args:
      records: those of the run.
      overrides: its overrides.json, as `reports.data.run_data.load.load_overrides` gives it.
    """
    devices = sorted(d for d in records["device"].astype(str).unique() if d and device_type(d) != "cpu")
    cells = tuple(_programs(overrides))
    own = records[records["spec"].isin({cell.spec for cell in cells}) & (records["against"].astype(str) == "numpy")]
    verdicts: dict[tuple[str, str, str], set[str]] = {}
    for row in rows(own[["device", "spec", "mode", "verdict"]].astype("object")):
        verdicts.setdefault((str(row["device"]), row["spec"], row["mode"]), set()).add(row["verdict"])
    return tuple(_device(device, verdicts, cells) for device in devices)


def _programs(overrides: Sequence[OverrideData]) -> Iterator[_Program]:
    for one in overrides:
        for cell in one["cells"]:
            for mode, expected in cell["expected"].items():
                if expected["state"] != INEXPRESSIBLE:
                    runs_in = "eager" if cell["column"] else mode
                    yield _Program(one["op"], one["mechanism"], cell["place"], mode, cell["spec"], runs_in)


def _device(
    device: str, verdicts: Mapping[tuple[str, str, str], set[str]], cells: Sequence[_Program]
) -> OverrideDevice:
    states = {cell: _state(verdicts.get((device, cell.spec, cell.runs_in), set())) for cell in cells}
    counts: dict[str, Counter[str]] = {cell.mechanism: Counter() for cell in cells}
    for cell, state in states.items():
        counts[cell.mechanism][state] += 1
    absent = {
        UNAVAILABLE: _lines(states, UNAVAILABLE, "mechanism"),
        NOT_RUN: _lines(states, NOT_RUN, "place"),
    }
    return OverrideDevice(device, counts, absent)


def _state(verdicts: set[str]) -> str:
    if not verdicts:
        return NOT_RUN
    if verdicts & set(FAILING):
        return UNEXPECTED
    return UNAVAILABLE if verdicts == {"unavailable"} else KEPT


def _lines(states: Mapping[_Program, str], state: str, head: str) -> tuple[str, ...]:
    """A line for each mechanism or place that has cells of a state: their ops, and the modes if not all are meant."""
    by_head: dict[str, dict[str, set[str]]] = {getattr(cell, head): {} for cell in states}
    for cell, of_cell in states.items():
        if of_cell == state:
            by_head[getattr(cell, head)].setdefault(cell.op, set()).add(cell.mode)
    return tuple(
        f"{name}: {'; '.join(_ops(modes_of, [cell for cell in states if getattr(cell, head) == name]))}"
        for name, modes_of in by_head.items()
        if modes_of
    )


def _ops(modes_of: Mapping[str, set[str]], every: Sequence[_Program]) -> Iterator[str]:
    """The ops in words, those with the same modes together; `modes_of` has the modes of each."""
    alike: dict[frozenset[str], list[str]] = {}
    for op, modes in modes_of.items():
        alike.setdefault(frozenset(modes), []).append(op)
    for same, ops in alike.items():
        words = "every op" if set(ops) == {cell.op for cell in every} else ", ".join(ops)
        whole = same == {cell.mode for cell in every}
        yield words if whole else f"{words}, in {' and '.join(mode for mode in MODES if mode in same)}"
