"""Analyses plants one by one; see `python -m bench.plants --help`."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.__main__ import table
from bench.plants import Plant, plants
from bench.plants.outcome import Outcome, read, summary
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.model.planted_kernel import plant as plant_kernel
from tf_opdiff.harness.tests.model.planted_kernel import planting
from tf_opdiff.model.analysis import Analysis, ModelProblem
from tf_opdiff.model.answers.answer import Answer, lines
from tf_opdiff.model.answers.known_failure import with_known
from tf_opdiff.model.recordings.recorded import Recording
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.setting import with_setting

TF = "2.21.0"


def outcome(plant: Plant, *, verbose: bool, quick: bool) -> Outcome:
    """Analyses a plant."""
    begin, (device, mode) = time.perf_counter(), plant.plan.split("/")
    plan = Plan(Device.parse(device), mode)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/inputs.npz", **plant.inputs())  # type: ignore[arg-type]
        request = ModelRequest(str(ROOT), f"bench.plants.{plant.group}", plant.name, f"{folder}/inputs.npz")
        try:
            with Analysis(request, Path(folder), plant.steps) as analysis:
                answer = analysis.answer(plan)
                answer = answer if quick else with_setting(analysis, plan, answer)
                recording = analysis.recordings[answer.step]
                answer = with_known(answer, plan, recording, TF)
                if verbose:
                    print(*lines(answer, recording), sep="\n", flush=True)
        except ModelProblem as why:
            return Outcome(plant.id, "problem", "", str(why)[:200], "", "", dict.fromkeys(_aspects(plant), False), 0.0)
    seconds = time.perf_counter() - begin
    return judged(plant, answer, recording, seconds, quick=quick)


def _aspects(plant: Plant) -> list[str]:
    parts = {"op and layer": plant.ops, "kind": True, "setting": plant.settings, "known": plant.cause}
    return [name for name, present in parts.items() if present]


def judged(plant: Plant, answer: Answer, recording: Recording, seconds: float, *, quick: bool) -> Outcome:
    """Compares an answer with what is right about a plant."""
    op = recording.ops[answer.ops[0]] if answer.ops else None
    named = op is not None and op.type in plant.ops
    layer = op.place.layer.rpartition("/")[2] if op else ""
    there = op is not None and (layer == plant.layer if plant.layer else op.place.line == plant.line)
    kind = answer.kind in plant.kinds
    right = {
        "op and layer": named and there,
        "kind": kind,
        "setting": answer.switch in plant.settings,
        "known": plant.cause in answer.causes[:1],
    }
    shown = {name: right[name] for name in _aspects(plant) if not (quick and name == "setting")}
    kind_name = answer.kind + (f" ({answer.detail[:80]})" if answer.detail else "")
    words = (op.type if op else "", str(op.place) if op else "", answer.switch, " ".join(answer.causes[:2]))
    return Outcome(plant.id, kind_name, *words, shown, seconds)


def main() -> None:
    """Runs what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.plants", description=__doc__)
    parser.add_argument("--only", default="", metavar="REGEX", help="plants whose id, GROUP/NAME_MODE, matches")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="the Nth of M parts")
    parser.add_argument("--verbose", action="store_true", help="print the answers")
    parser.add_argument("--quick", action="store_true", help="try no settings")
    parser.add_argument("--list", action="store_true", help="list the ids")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append each outcome as a line of JSON")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the table of such files")
    options = parser.parse_args()
    if options.table:
        print(table([*summary(read(options.table))]))
        return
    number, _, parts = options.part.partition("/")
    chosen = [one for one in plants() if re.search(options.only, one.id)][int(number) - 1 :: int(parts)]
    if options.list:
        print(*(one.id for one in chosen), sep="\n")
        return
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, _kernels_planted(chosen, Path(folder, "fault")):
        for one in chosen:
            outcomes.append(
                made := _with_kernel(one, Path(folder, "fault"), verbose=options.verbose, quick=options.quick)
            )
            missed = [name for name, right in made.right.items() if not right]
            mark = f"MISSED {', '.join(missed)}" if missed else "right"
            words = (made.kind, made.op, made.place, made.setting, made.causes, f"{made.seconds:.1f} s")
            print(f"{made.id}: {mark}: {'; '.join(words)}", flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(asdict(made)) + "\n")
    print(table([*summary(outcomes)]), file=sys.stderr)


@contextlib.contextmanager
def _kernels_planted(chosen: Sequence[Plant], file: Path) -> Iterator[None]:
    """New processes have the fault that stands in a file; nothing is done if no plant needs one."""
    with planting(file) if any(one.kernel for one in chosen) else contextlib.nullcontext():
        yield


def _with_kernel(plant: Plant, file: Path, *, verbose: bool, quick: bool) -> Outcome:
    """The outcome of a plant, with its fault of a kernel in place."""
    if plant.kernel:
        plant_kernel(file, *plant.kernel)
    made = outcome(plant, verbose=verbose, quick=quick)
    file.unlink(missing_ok=True)
    return made


if __name__ == "__main__":
    main()
