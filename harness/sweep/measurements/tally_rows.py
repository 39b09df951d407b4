"""Tally rows: a sweep's tallies as records and as JSON."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Trial
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.store.records.element_index import index_text
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.cell_lines import CellLine, CellWriter
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.sweep.measurements.pieces import patterns
from tf_opdiff.harness.sweep.measurements.tally import FLUSHED, Tally
from tf_opdiff.harness.sweep.sweep import Sweep

_FLUSHED = Side(
    reference=lambda x: x,
    why="subnormals are flushed: the result is ±0 for one, or it is that of ±0 or of ± the smallest normal number",
    link="https://github.com/openxla/xla/blob/main/xla/tests/exhaustive/exhaustive_op_test_utils.h",
)


def case_id(sweep: Sweep, recipe: str) -> str:
    """The id of a sweep's case: `floor-float32-sweep`, then a range that is not whole, then a step above 1."""
    whole = (sweep.lo, sweep.hi) == (0, patterns(sweep.item.dtype))
    sample = "" if sweep.step == 1 else f"-every-{sweep.step}"
    return sweep.case(recipe).id + ("" if whole else f"-{sweep.lo:x}-{sweep.hi:x}") + sample


def cells(sweep: Sweep) -> dict[tuple[str, Plan], list[tuple[str, Tally]]]:
    """The pairs (quantity, tally) of each cell of the run, by recipe and plan."""
    by_cell: dict[tuple[str, Plan], list[tuple[str, Tally]]] = {}
    for plan, swept in sweep.swept.items():
        for (recipe, quantity), tally in swept.tallies.items():
            by_cell.setdefault((recipe, plan), []).append((quantity, tally))
    return by_cell


def records(sweep: Sweep, context: Context, recipe: str, plan: Plan) -> list[Record]:
    """A record for each quantity of one cell."""
    spec, dtype = sweep.item.spec, sweep.item.dtype
    case, swept = sweep.case(recipe), sweep.swept[plan]
    mine = cells(sweep)[recipe, plan]
    quantities = {q: Result(t.status, code=t.code, message=t.message) for q, t in mine}
    observation = Observation(quantities, seconds=swept.seconds, **swept.about)
    trial, whole = Trial(sweep.item.suite, case, plan, observation), case_id(sweep, recipe) == case.id
    judge, made = Judge(context, part=not whole), []
    for quantity, tally in mine:
        found = tally.comparison(spec.tolerance.ulps(quantity, dtype, plan.mode))
        flushed = tally.flushed > 0 and not found.kind
        side = spec.side(plan) or (_FLUSHED if flushed else None)
        row = judge.decide(trial, quantity, found, side=side)
        kind = row.kind or (FLUSHED if flushed else "")
        worst = next((r for r in tally.worst if r[0] == kind), None)
        simple = tally.simplest.get(kind)
        if flushed and row.verdict == "contract":
            count = f"{tally.flushed} of {tally.size} are those of a flushed input. "
            row = replace(row, kind="subnormal", kinds="subnormal", mismatched=tally.flushed)
            row = replace(row, detail=(count + row.detail)[:1000])
        if worst is not None and (kind or row.verdict == "contract"):
            shown = {"input": _input(dtype, worst[2]), "got": worst[3], "want": worst[4]}
            row = replace(row, worst_index=index_text((worst[2],)), **shown)
        if simple is not None:
            numbers = wording.numbers(kind if found.kind else "", _input(dtype, simple[1]), *simple[2:])
            row = replace(row, example_index=index_text((simple[1],)), example=numbers)
        at = simple[1] if simple is not None and row.failing else None
        made.append(replace(row, case=case_id(sweep, recipe), rerun=rerun(sweep, plan, at)))
    return made


def _input(dtype: str, bits: int) -> str:
    """An input with its bit pattern."""
    return f"{Bits(dtype, bits, bits + 1).array()[0]!s} (0x{bits:0{len(f'{patterns(dtype) - 1:x}')}x})"


def profiles(sweep: Sweep) -> dict[Cell, dict[str, Any]]:
    """The error profiles of each cell that has some, by quantity, as JSON-able data."""
    by_cell: dict[Cell, dict[str, Any]] = {}
    for plan, swept in sweep.swept.items():
        for (recipe, quantity), profile in swept.errors.items():
            cell = case_id(sweep, recipe), str(plan.device), plan.mode
            by_cell.setdefault(cell, {})[quantity] = profile.to_json()
    return by_cell


def write(
    rows: Sequence[Record],
    writer: CellWriter,
    program: str = "",
    errors: Mapping[Cell, Mapping[str, Any]] | None = None,
) -> None:
    """Writes the records of finished cells, sorted by cell.

    `program` is the digest of the program; `errors` are the `profiles` of cells.
    """
    for cell, records in itertools.groupby(rows, lambda r: (r.case, r.device, r.mode)):
        place = dict(zip(("case", "device", "mode"), cell, strict=True))
        more: dict[str, Any] = {"observation": {}, "program": program}
        if errors and cell in errors:
            more["errors"] = errors[cell]
        writer.add(CellLine(kind="result", **place, records=list(records), more=more))
        writer.add(CellLine(kind="compare", **place, records=[]))


def faulty(sweep: Sweep, context: Context, message: str) -> list[Record]:
    """The records of a sweep whose reference failed: one for each cell."""
    item, found = sweep.item, []
    for recipe, plan in itertools.product(sweep.recipes, sweep.plans):
        row = Judge(context).broken(Trial(item.suite, sweep.case(recipe), plan), message)
        found.append(replace(row, case=case_id(sweep, recipe), rerun=rerun(sweep, plan, None)))
    return found


def rerun(sweep: Sweep, plan: Plan, at: int | None) -> str:
    """The command that repeats the sweep on its whole range, or on the block with the bit pattern `at`."""
    lo, hi = sweep.lo, sweep.hi
    if at is not None:
        lo, hi = next((a, b) for a, b in sweep.blocks() if a <= at < b)
    part = "" if (lo, hi) == (0, patterns(sweep.item.dtype)) else f" --range 0x{lo:x}:0x{hi:x}"
    name, attrs = sweep.item.spec.name, f" --attrs {sweep.attrs}" if sweep.attrs else ""
    plan_options = f"--device {plan.device} --mode {plan.mode}"
    every = "" if sweep.step == 1 else f" --every {sweep.step}"
    return f"python -m harness sweep {name} --dtype {sweep.item.dtype}{attrs} {plan_options}{part}{every}"


def summary(sweep: Sweep, recorded: list[Record]) -> list[dict[str, Any]]:
    """The tally and the verdict of every quantity of every cell, as JSON-able data."""
    verdicts = {(r.case, r.device, r.mode, r.quantity): r.verdict for r in recorded}
    rows = []
    for (recipe, plan), found in cells(sweep).items():
        for quantity, tally in found:
            case, device = case_id(sweep, recipe), str(plan.device)
            verdict = verdicts.get((case, device, plan.mode, quantity), "")
            place = {"case": case, "device": device, "mode": plan.mode, "quantity": quantity}
            rows.append({**place, "verdict": verdict, "complete": bool(verdict), **tally.to_json()})
    return rows
