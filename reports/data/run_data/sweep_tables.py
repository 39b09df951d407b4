"""Sweep tables: the blocks of sweeps in the shards of runs, joined into tables of an atlas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.modes import by_family
from tf_opdiff.harness.store.records.accuracy import BIN, Accuracy
from tf_opdiff.harness.store.records.error_profile import CLASSES
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import read_lines
from tf_opdiff.harness.sweep.measurements.pieces import next_multiple, patterns
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.figures import atlas

#: The modes whose rows another mode with the same bits may stand for, after those that may stand for them.
#: A spec, a dtype, a label of attrs, a device and a version of TensorFlow.
_Program = tuple[str, str, str, str, str]


@dataclass
class _Steps:
    """The blocks of one mode with one step, by their first and last bit pattern; and the facts of their runs."""

    blocks: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    processors: dict[str, None] = field(default_factory=dict)
    date: str = ""

    def add(self, line: dict[str, Any], info: RunInfo) -> None:
        """Adds the block of a line; a block without accuracies, as of a crash, gives way to one that has them."""
        place = line["lo"], line["hi"]
        if place not in self.blocks or line.get("accuracies"):
            self.blocks[place] = line
        self.processors[described(info.machine)] = None
        self.date = max(self.date, info.started[:10])


def table(runs: Sequence[Path]) -> tuple[pd.DataFrame, list[str]]:
    """The table of the sweeps of runs, and a sentence for each sweep or run that is not in it, with the reason.

    Raises:
      FileNotFoundError: the directory of a run does not exist.
      ValueError: blocks of a sweep overlap, or a shard is damaged.
    """
    programs: dict[_Program, dict[str, dict[int, _Steps]]] = {}
    suspects: set[tuple[str, str]] = set()
    reasons: list[str] = []
    for run in runs:
        info, kinds = RunInfo.load(run), set[str]()
        for line in _lines(run):
            kinds.add(line["line"])
            if line["line"] == "searched":
                continue
            if line["line"] == "result":
                suspects |= {(row["spec"], row["dtype"]) for row in line["records"] if row.get("kind") == "reference"}
                continue
            program = line["spec"], line["dtype"], line.get("attrs", ""), line["device"], info.tf
            steps = programs.setdefault(program, {}).setdefault(line["mode"], {})
            steps.setdefault(line.get("step", 1), _Steps()).add(line, info)
        if not kinds & {"block", "searched"}:
            reasons.append(f"{run}: it has no sweep and no search")
    rows: list[dict[str, Any]] = []
    for program, modes in programs.items():
        if program[:2] in suspects:
            reasons.append(f"{program[0]}-{program[1]}: its reference in float64 disagrees with that in wider numbers")
        else:
            rows += _rows(program, modes, reasons)
    return atlas.typed(pd.DataFrame(rows, columns=list(atlas.COLUMNS))), reasons


def _lines(run: Path) -> Iterator[dict[str, Any]]:
    """The lines of the blocks, of the searches and of the results of a run."""
    for shard in rundir.shards(run):
        yield from (line for line in read_lines.read(shard) if line and line["line"] in ("block", "searched", "result"))


def _rows(program: _Program, modes: dict[str, dict[int, _Steps]], reasons: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of all modes and quantities of a program; adds the reasons why some have none."""
    spec, dtype, attrs, device, tf = program
    best: dict[str, tuple[int, dict[str, Accuracy]]] = {}
    for mode in sorted(modes, key=by_family):
        name = f"{'-'.join(filter(None, (spec, dtype, attrs)))} on {device}/{mode}"
        whole = {step: one for step, one in modes[mode].items() if _is_whole(one.blocks, dtype, step, name)}
        if not whole:
            reasons.append(f"{name}: the sweep has not tried all inputs, nor an even sample of them")
            continue
        step = min(whole)
        best[mode] = step, _joined(whole[step].blocks.values())
        reasons += [f"{name}: {why}" for why in _lacking(whole[step].blocks.values(), best[mode][1])]
    same = _same_bits(modes, best)
    for mode, (step, accuracies) in best.items():
        one = modes[mode][step]
        facts = {"spec": spec, "dtype": dtype, "attrs": attrs, "device": device, "mode": mode, "tf": tf, "step": step}
        facts |= {"processor": "; ".join(one.processors), "date": one.date}
        facts["raw_op"] = next(iter(one.blocks.values()))["about"].get("raw_op", "")
        for quantity, accuracy in accuracies.items():
            others = {other: n for (first, other, q), n in same.items() if (first, q) == (mode, quantity)}
            if any((other, q) == (mode, quantity) for _, other, q in same):
                continue
            facts |= {"same_bits": ";".join(others), "same_inputs": min(others.values(), default=0)}
            yield from _bins(facts | {"quantity": quantity}, accuracy)


def _bins(facts: dict[str, Any], accuracy: Accuracy) -> Iterator[dict[str, Any]]:
    """A row for each bin of an accuracy."""
    columns = zip(accuracy.bins.T.tolist(), accuracy.total, accuracy.largest, accuracy.worst, strict=True)
    for counts, total, largest, worst in columns:
        row = facts | dict(zip(BIN, counts, strict=True)) | {"total_ulp": total, "max_ulp": largest, "worst": worst}
        yield row | {"input_class": CLASSES[counts[0]]}


def _joined(lines: Iterable[dict[str, Any]]) -> dict[str, Accuracy]:
    """The accuracy of each quantity over all blocks, of those that every block has."""
    parts: dict[str, list[Accuracy]] = {}
    count = 0
    for line in lines:
        count += 1
        for quantity, row in line.get("accuracies", {}).items():
            parts.setdefault(quantity, []).append(Accuracy.from_json(row))
    return {quantity: Accuracy.sum(each) for quantity, each in parts.items() if len(each) == count}


def _lacking(lines: Iterable[dict[str, Any]], accuracies: Mapping[str, Accuracy]) -> Iterator[str]:
    """A sentence for each quantity without an accuracy: its error or its status, or that its numbers are no floats."""
    codes: dict[str, str] = {}
    for line in lines:
        for _, quantity, tally in line["tallies"]:
            if quantity not in accuracies:
                status = "" if tally["status"] == "value" else tally["status"]
                codes[quantity] = codes.get(quantity) or tally["code"] or status
    for quantity, error_code in codes.items():
        yield f"{quantity}: {error_code or 'the results are no floats'}"


def _is_whole(blocks: Iterable[tuple[int, int]], dtype: str, step: int, name: str) -> bool:
    """Whether blocks cover all bit patterns of a dtype.

    Raises:
      ValueError: blocks overlap.
    """
    reached = 0
    for lo, hi in sorted(blocks):
        if lo < reached:
            raise ValueError(
                f"{name}: blocks of its sweeps overlap at {lo:#x}: expected the same block size in each run"
            )
        if lo != next_multiple(reached, step):
            return False
        reached = hi
    return reached == patterns(dtype)


def _same_bits(
    modes: dict[str, dict[int, _Steps]], best: dict[str, tuple[int, dict[str, Accuracy]]]
) -> dict[tuple[str, str, str], int]:
    """The number of inputs on which two modes have the same bits, by (mode, later mode, quantity).

    It is that of the blocks with checksums that both modes tried; pairs that differ on one of them are left out, and so
    are pairs whose errors differ although the modes tried the same inputs.
    """
    same: dict[tuple[str, str, str], int] = {}
    ordered = list(best)
    for i, one in enumerate(ordered):
        for other in ordered[i + 1 :]:
            for quantity in best[one][1].keys() & best[other][1].keys():
                compared = [
                    (line, modes[other][step].blocks[place], step)
                    for step in modes[one].keys() & modes[other].keys()
                    for place, line in modes[one][step].blocks.items()
                    if place in modes[other][step].blocks
                ]
                inputs = _equal_inputs(compared, quantity)
                if inputs and _equal(best[one], best[other], quantity):
                    same[one, other, quantity] = inputs
    return same


def _equal(one: tuple[int, dict[str, Accuracy]], other: tuple[int, dict[str, Accuracy]], quantity: str) -> bool:
    """Whether two modes have the same errors of a quantity; also true if they tried other inputs.

    A mode is its step, and its accuracies by quantity.
    """
    if one[0] != other[0]:
        return True
    a, b = one[1][quantity], other[1][quantity]
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("bins", "total", "largest", "worst"))


def _equal_inputs(pairs: Iterable[tuple[dict[str, Any], dict[str, Any], int]], quantity: str) -> int:
    """The number of inputs of the blocks with checksums of a quantity, if these are equal in each pair; else 0.

    A pair is the lines of a block in two modes, and the distance of its bit patterns.
    """
    inputs = 0
    for line, other, step in pairs:
        one, two = (block.get("checksums", {}).get(quantity) for block in (line, other))
        if one != two:
            return 0
        inputs += len(range(line["lo"], line["hi"], step)) if one is not None else 0
    return inputs
