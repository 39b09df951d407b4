"""Overrides that no suite declares, with records of them: a cell of each state."""

from __future__ import annotations

from dataclasses import replace

from tf_opdiff.harness.repro.override_listing import CellData, OverrideData
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, OWN, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.tests.planted import synthetic

#: Spec → mode → the verdict of its records; a mode that is missing did not run.
VERDICTS = {
    "floor-none": dict.fromkeys(MODES, "match"),
    "floor-map": {"eager": "contract", "function": "known", "xla": "contract", "graph": "match"},
    "floor-map-fitted": {"eager": "match"},
    "floor-custom": {"eager": "mismatch", "function": "unavailable", "graph": "match"},
}
_STATES = {
    "floor-none": dict.fromkeys(MODES, OWN),
    "floor-map": {"eager": IGNORED, "function": IGNORED, "xla": REFUSED, "graph": APPLIED},
    "floor-map-fitted": {"function": APPLIED, "graph": INEXPRESSIBLE},
    "floor-custom": dict.fromkeys(MODES, APPLIED),
}


def _cell(spec: str, place: str, column: str = "") -> CellData:
    silent = (APPLIED, OWN)
    expected = {m: {"state": s, "why": "" if s in silent else f"{spec} is {s} <b>"} for m, s in _STATES[spec].items()}
    return {"spec": spec, "case": f"{spec}-float32-v", "place": place, "column": column, "expected": expected}  # type: ignore[typeddict-item]


def _override(mechanism: str, *cells: CellData, absent: dict[str, str] | None = None) -> OverrideData:
    return {
        "op": "floor",
        "gradient": "-2·x·g",
        "mechanism": mechanism,
        "program": f"print({mechanism!r})\n",
        "alone": mechanism != "custom",
        "files": {"op.cc": "int x;\n"} if mechanism == "custom" else {},
        "absent": absent or {},
        "cells": list(cells),
    }


def overrides() -> list[OverrideData]:
    """What overrides.json holds: an op, and four mechanisms, of which one can't be expressed."""
    return [
        _override("none", _cell("floor-none", "plain"), absent={"C++": "no such op"}),
        _override("map", _cell("floor-map", "plain"), _cell("floor-map-fitted", "fitted", "function")),
        _override("custom", _cell("floor-custom", "plain")),
        {**_override("C++"), "op": "cond", "gradient": "g"},
    ]


def records() -> list[Record]:
    """An output and a gradient of each spec in each mode in which it ran."""
    model = synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0]
    return [
        replace(
            model, spec=spec, case=f"{spec}-float32-v", mode=mode, against="numpy", quantity=quantity, verdict=verdict
        )
        for spec, by_mode in VERDICTS.items()
        for mode, verdict in by_mode.items()
        for quantity in ("output[0]", "grad[0]")
    ]
