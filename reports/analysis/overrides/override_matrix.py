"""Override matrix: by place, op, mechanism and mode, whether an override is applied, from the records of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from tf_opdiff.harness.repro.override_listing import OverrideData
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, OWN, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.claim_tables.claim_words import device_type
from tf_opdiff.reports.data.run_data.rows import rows

UNEXPECTED, UNAVAILABLE, NOT_RUN = "unexpected", "unavailable", "not run"
#: State of a cell → its symbol and its meaning.
STATES: Mapping[str, tuple[str, str]] = {
    APPLIED: ("✓", "The gradient is that of the override; where overrides are nested, that of the outer one."),
    IGNORED: ("○", "The gradient is the op's own. TensorFlow does not mention the override."),
    REFUSED: ("✗", "TensorFlow raises an error."),
    INEXPRESSIBLE: ("–", "There is no such program. The reason stands at the cell."),
    OWN: ("=", "The program has no override, and the gradient is the op's own."),
    UNEXPECTED: ("!", "The result is another one than expected: a failure of this run."),
    UNAVAILABLE: ("∅", "A kernel, or a compiler, is missing here."),
    NOT_RUN: ("·", "This run did not run it: the mode, the tier or the op was not selected."),
}


@dataclass(frozen=True)
class Cell:
    """One override in one place and mode: its state, the reason, the spec, and the record that shows it."""

    state: str
    why: str = ""
    spec: str = ""
    record: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        return STATES[self.state][0]


@dataclass(frozen=True)
class Override:
    """An op and a mechanism.

    Attributes:
      anchor: the id of its element in a page.
      case: the id of its first case.
      cells: place → mode → the cell.

    See `harness.repro.override_listing.overrides_data` for the rest.
    """

    op: str
    mechanism: str
    anchor: str
    gradient: str
    program: str
    alone: bool
    files: Mapping[str, str]
    case: str
    cells: Mapping[str, Mapping[str, Cell]]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of cells of each state that occurs."""
        counts = Counter(cell.state for by_mode in self.cells.values() for cell in by_mode.values())
        return {state: counts[state] for state in STATES if counts[state]}


@dataclass(frozen=True)
class OverrideMatrix:
    """The cells of one device.

    Attributes:
      device: the device.
      ops, mechanisms, places: the names, in the order of the suite.
      overrides: (op, mechanism) → the override.
    """

    device: str
    ops: tuple[str, ...]
    mechanisms: tuple[str, ...]
    places: tuple[str, ...]
    overrides: Mapping[tuple[str, str], Override]

    def cell(self, op: str, mechanism: str, place: str, mode: str) -> Cell:
        """The cell of an override in a place and a mode."""
        return self.overrides[op, mechanism].cells[place][mode]

    def each(self) -> Iterator[tuple[str, str, str, str, Cell]]:
        """Every cell, behind its op, mechanism, place and mode."""
        for (op, mechanism), override in self.overrides.items():
            for place, by_mode in override.cells.items():
                yield from ((op, mechanism, place, mode, cell) for mode, cell in by_mode.items())

    @cached_property
    def places_run(self) -> tuple[str, ...]:
        """The places of which the run has a cell with a record."""
        places = {place for _, _, place, _, cell in self.each() if cell.record}
        return tuple(place for place in self.places if place in places)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of cells of each state."""
        counts = Counter(cell.state for *_, cell in self.each())
        return {state: counts[state] for state in STATES}


def override_matrices(records: pd.DataFrame, overrides: Sequence[OverrideData]) -> tuple[OverrideMatrix, ...]:
    """The matrix of each CPU that has a record of an override, by name; none if no CPU has one.

    The expected states are those of a CPU: other devices lack kernels of some mechanisms, and refuse no index.

    Args:
      records: those of the run.
      overrides: its overrides.json, as `reports.data.run_data.load.load_overrides` gives it.
    """
    specs = {cell["spec"] for override in overrides for cell in override["cells"]}
    own = records[records["spec"].isin(specs) & (records["against"].astype(str) == "numpy")]
    columns = ["spec", "case", "device", "mode", "quantity", "against", "verdict", "kind"]
    by_device: dict[str, dict[tuple[str, str], list[Mapping[str, Any]]]] = {}
    for row in (row for row in rows(own[columns].astype("object")) if device_type(row["device"]) == "cpu"):
        by_device.setdefault(row["device"], {}).setdefault((row["spec"], row["mode"]), []).append(row)
    return tuple(_matrix(device, by_place, overrides) for device, by_place in sorted(by_device.items()))


def _matrix(
    device: str, records: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]], data: Sequence[OverrideData]
) -> OverrideMatrix:
    ops = tuple(dict.fromkeys(one["op"] for one in data))
    mechanisms = tuple(dict.fromkeys(one["mechanism"] for one in data))
    places = tuple(dict.fromkeys(cell["place"] for one in data for cell in one["cells"]))
    absent = {(one["op"], name): why for one in data for name, why in one["absent"].items()}
    by_pair = {(one["op"], one["mechanism"]): one for one in data}
    overrides = {}
    for n, op in enumerate(ops):
        for m, mechanism in enumerate(mechanisms):
            one = by_pair.get((op, mechanism))
            nothing = Cell(INEXPRESSIBLE, absent.get((op, mechanism), ""))
            cells = {place: dict.fromkeys(MODES, nothing) for place in places}
            for each in one["cells"] if one else ():
                for mode, expected in each["expected"].items():
                    found = records.get((each["spec"], "eager" if each["column"] else mode), ())
                    cells[each["place"]][mode] = _cell(each["spec"], expected["state"], expected["why"], found)
            overrides[op, mechanism] = Override(
                op=op,
                mechanism=mechanism,
                anchor=f"override-{n}-{m}",
                gradient=one["gradient"] if one else "",
                program=one["program"] if one else "",
                alone=bool(one and one["alone"]),
                files=one["files"] if one else {},
                case=next((each["case"] for each in one["cells"]), "") if one else "",
                cells=cells,
            )
    return OverrideMatrix(device, ops, mechanisms, places, overrides)


def _cell(spec: str, state: str, why: str, records: Sequence[Mapping[str, Any]]) -> Cell:
    """The cell of a spec in one mode: its expected state if the records are as promised."""
    if state == INEXPRESSIBLE:
        return Cell(state, why)
    if not records:
        return Cell(NOT_RUN, "", spec)
    order = {verdict: n for n, verdict in enumerate((*FAILING, "unavailable", "known", "contract", "match"))}
    shown = min(records, key=lambda row: (order.get(row["verdict"], 0), not row["quantity"].startswith("grad")))
    record = tuple(shown[name] for name in ("case", "device", "mode", "quantity", "against"))
    if shown["verdict"] in FAILING:
        return Cell(UNEXPECTED, f"expected: {state}", spec, record)
    if all(row["verdict"] == "unavailable" for row in records):
        return Cell(UNAVAILABLE, "", spec, record)
    return Cell(state, why, spec, record)
