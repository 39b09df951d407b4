"""Override listing: the cells of the table of gradient overrides, and a program of each op and mechanism."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Literal, TypedDict

import numpy as np

from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import ProgramWriter, complete
from tf_opdiff.harness.repro.script import template
from tf_opdiff.harness.repro.short_programs.array_text import array_text
from tf_opdiff.harness.spec.lists.override_cell import OverrideCell
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Case, Spec


class ExpectedData(TypedDict):
    """An expected state; see `harness.spec.lists.override_cell.Expected`."""

    state: Literal["applied", "ignored", "refused", "cannot be expressed", "own gradient"]
    why: str


class CellData(TypedDict):
    """The cells of one spec; see `harness.spec.lists.override_cell.OverrideCell`."""

    spec: str
    case: str
    place: str
    column: str
    expected: dict[str, ExpectedData]


class OverrideData(TypedDict):
    """An op and a mechanism in overrides.json; see `overrides_data`."""

    op: str
    gradient: str
    mechanism: str
    program: str
    alone: bool
    files: dict[str, str]
    absent: dict[str, str]
    cells: list[CellData]


def overrides_data(specs: Iterable[Spec]) -> list[OverrideData]:
    """Each op and mechanism with its cells and its program, in the order of the specs.

    The program runs all cells with TensorFlow and NumPy `alone`. If it can't, as with an op in C++, it is the source of
    the first spec's functions.
    """
    groups: dict[tuple[str, str], list[tuple[Spec, OverrideCell]]] = {}
    for spec in specs:
        if spec.override:
            groups.setdefault((spec.override.op, spec.override.mechanism), []).append((spec, spec.override))
    return [_group(pairs) for pairs in groups.values()]


def _group(pairs: Sequence[tuple[Spec, OverrideCell]]) -> OverrideData:
    first, about = pairs[0]
    try:
        if first.files:
            raise Unwritable(f"it needs {first.files[0].name}")
        program, alone = program_of(pairs), True
    except Unwritable:
        program, alone = _sources(first.program), False
    return {
        "op": about.op,
        "gradient": about.gradient,
        "mechanism": about.mechanism,
        "program": program,
        "alone": alone,
        "files": {path.name: path.read_text() for path in first.files},
        "absent": {name: why for _, cell in pairs for name, why in cell.absent.items()},
        "cells": [_cell(spec, cell) for spec, cell in pairs],
    }


def _sources(function: Any) -> str:
    """The source of a function, behind those of the functions that a `functools.partial` gives to it."""
    given = function.keywords.values() if isinstance(function, partial) else ()
    functions = [f for f in given if inspect.isfunction(f)] + [getattr(function, "func", function)]
    return "\n\n".join(inspect.getsource(f).rstrip() for f in functions) + "\n"


def _cell(spec: Spec, cell: OverrideCell) -> CellData:
    expected: dict[str, Any] = {mode: asdict(cell.expected[mode]) for mode in MODES if mode in cell.expected}
    place, column = cell.place, cell.column
    return {"spec": spec.name, "case": spec.cases()[0].id, "place": place, "column": column, "expected": expected}


@np.errstate(all="ignore")
def program_of(pairs: Sequence[tuple[Spec, OverrideCell]]) -> str:
    """A program that prints the results and gradients of some specs with equal inputs, in each of their modes.

    Raises:
      Unwritable: a spec's program has no source that stands alone.
    """
    inputs = pairs[0][0].cases()[0].inputs()

    def text(writer: ProgramWriter) -> str:
        state = pairs[0][0].execution.state
        if state:
            writer.function(state, "make_state")
        places = [
            {
                "title": repr(cell.place + (f", {cell.column}" if cell.column else "")),
                "program": writer.function(spec.program, "program"),
                "modes": repr(spec.modes),
                "upstreams": _upstreams(spec.cases()[0], writer),
            }
            for spec, cell in pairs
        ]
        return template("override.py.jinja").render(
            inputs=[array_text(x, writer) for x in inputs],
            places=places,
            state=bool(state),
            definitions=writer.text.strip(),
            imports=writer.import_lines,
        )

    return complete(text)


def _upstreams(case: Case, writer: ProgramWriter) -> str:
    """The upstreams of a case as a literal; an empty tuple if it promises no gradient."""
    sides = (side for side in case.spec.contract.values() if side.vjp)
    if not case.spec.derivatives.vjp:
        return "()"
    expected = expectation(case, case.inputs(), None)
    if expected.upstreams is None:  # the result is an error, unless a side of the contract has one
        expected = expectation(case, case.inputs(), next(sides, None))
    return "[" + ", ".join(array_text(g, writer) for g in expected.upstreams or () if g is not None) + "]"
