"""Merge runs: runs of several machines become one, as if their devices had run side by side."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.recordings import recording_writer
from tf_opdiff.harness.store.recordings.record_devices import OTHER_BITS, Part
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.run_directories import judges, rundir
from tf_opdiff.harness.store.run_directories.environment import apart, joined
from tf_opdiff.harness.store.run_directories.judges import OURS, JudgedBy
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.system.interrupt import run_child
from tf_opdiff.harness.system.processor import described

#: The most shards that a line names.
MOST_NAMED = 20


def together(parts: Sequence[Part]) -> tuple[dict[str, list[tuple[Part, str]]], list[str]]:
    """The devices of the merged run, each with the runs that have it and its name there; and notes to print.

    Runs that have a device of one name, in the same circumstances, share that device. Runs with different versions of
    TensorFlow have devices of their own, such as `cpu@2.20.0`.

    Raises:
      ValueError: the runs of a device differ in anything else.
    """
    devices: dict[str, list[tuple[Part, str]]] = {}
    notes = []
    for device in dict.fromkeys(d for part in parts for d in part.devices):
        sharing = [part for part in parts if device in part.devices]
        by_tf: dict[str, list[Part]] = {}
        for part in sharing:
            by_tf.setdefault(part.tf(device), []).append(part)
        if len(by_tf) > 1:
            notes.append(f"{device} ran with TensorFlow {', '.join(by_tf)}: each is a device of its own")
        for tf, same_tf in by_tf.items():
            differing = apart({n: part.about(device, device).circumstances for n, part in enumerate(same_tf)})
            if differing:
                differences = "; ".join(
                    f"{name} {' and '.join(v or '(none)' for v in vs.values())}" for name, vs in differing.items()
                )
                runs = ", ".join(str(part.directory) for part in same_tf)
                raise ValueError(
                    f"{device} is not the same device in {runs}: {differences}. Record each under its own name"
                )
            processors = sorted({described(part.info.machine) for part in same_tf})
            if len(processors) > 1:
                notes.append(f"{device} ran on several processors: {'; '.join(processors)}")
            devices[f"{device}@{tf}" if len(by_tf) > 1 else device] = [(part, device) for part in same_tf]
    return devices, notes


def union(name: str, parts: Sequence[tuple[Part, str]]) -> tuple[About, dict[Cell, dict[str, Any]], list[str]]:
    """A device and its cells, from all runs that have some: its facts, the lines of its cells, and notes to print.

    Different bits of two runs for one cell are a fault, which the facts name; the first run's line counts.
    """
    lines: dict[Cell, dict[str, Any]] = {}
    doubled: Counter[tuple[str, str]] = Counter()
    differing: Counter[tuple[str, str]] = Counter()
    origin: dict[Cell, str] = {}
    for part, device in parts:
        for cell, line in part.lines(device).items():
            if cell not in lines:
                lines[cell], origin[cell] = line, part.info.run
                continue
            doubled[origin[cell], part.info.run] += 1
            if _bits(lines[cell]) != _bits(line):
                differing[origin[cell], part.info.run] += 1
    abouts = [part.about(device, name) for part, device in parts]
    notes = [f"{n} cells of {name} are in both {a} and {b}" for (a, b), n in doubled.items()]
    faults = [f"{n} cells of {name} {OTHER_BITS} {a} than in {b}" for (a, b), n in differing.items()]
    about = replace(
        abouts[0],
        host=", ".join(dict.fromkeys(a.host for a in abouts)),
        machine=joined(a.machine for a in abouts),
        runs=tuple(dict.fromkeys(r for a in abouts for r in a.runs)),
        started=min(a.started for a in abouts),
        faults=tuple(dict.fromkeys([*(f for a in abouts for f in a.faults), *faults])),
    )
    return about, lines, notes


def absent_shards(parts: Iterable[Part]) -> list[str]:
    """One line for each run that `--shard` divided and that lacks shards with items."""
    divided: dict[tuple[Any, ...], dict[str, str]] = {}  # → shard → the run
    for info, devices in ((part.info, part.devices) for part in parts if part.info.shard):
        key = (tuple(info.shards), info.division, info.tf, *devices, "", *sorted(info.modes))
        divided.setdefault(key, {})[info.shard] = info.run
    lines = []
    for (expected, *_), runs in divided.items():
        absent = [shard for shard in expected if shard not in runs]
        more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
        present = ", ".join(f"{shard} ({run})" for shard, run in sorted(runs.items())[:MOST_NAMED])
        missing = ", ".join(absent[:MOST_NAMED])
        lines += [f"expected all {len(expected)} shards, got {present}; missing: {missing}{more}"] if absent else []
    return lines


def _bits(line: Mapping[str, Any]) -> Any:
    """The result of a cell, without its duration."""
    observation = line["observation"]
    if not observation:
        return [(r.quantity, r.every_kind, r.mismatched) for r in line["records"]]
    return {**Observation.from_json(observation).to_json(), "seconds": 0}


def merge(runs: Iterable[Path], directory: Path, arguments: Sequence[str] = (), judged_by: JudgedBy = OURS) -> int:
    """Judges the observations of several runs together, in a new run in `directory`; returns its exit status.

    Raises:
      FileNotFoundError: a path is not the directory of a run.
      ValueError: the runs can't be merged; the message names the disagreement.
      FileExistsError: the directory holds a run already.
    """
    parts = [Part.read(run) for run in runs]
    if not any(part.merged.results for part in parts):
        raise ValueError(f"nothing to merge: no result in {', '.join(str(part.directory) for part in parts)}")
    if refusals := [refusal for part in parts if (refusal := judged_by.other(part.info))]:
        raise ValueError("; ".join(refusals))
    if unknown := sorted({m for part in parts for m in part.info.modes} - {*MODES}):
        raise ValueError(f"mode {unknown[0]!r} in run.json: expected one of {', '.join(MODES)}")
    devices, notes = together(parts)
    created = rundir.absent(directory)
    rundir.create(directory.parent, chosen=directory)
    recordings, absent = directory / "recordings", absent_shards(parts)
    for name, sharing in devices.items():
        about, lines, cell_notes = union(name, sharing)
        about = replace(about, faults=(*about.faults, *absent))
        recording_writer.write(about, lines, recordings)
        notes += cell_notes
    for line in [*notes, *absent, *(fault for part in parts for fault in part.faults)]:
        print(f"merge: {line}", flush=True)
    modes = list(dict.fromkeys(m for p in parts for m in p.info.modes))
    command = [sys.executable, "-m", "pytest", "-o", f"opdiff_suites={judged_by.suites}"]
    command += ["-o", f"opdiff_known={judged_by.known}"]
    command += ["--tier", "full", f"--run-dir={directory}", f"--recordings={recordings}", *arguments, "suites"]
    command += [word for device in devices for word in ("--device", device)] + [w for m in modes for w in ("--mode", m)]
    status = run_child(command, ROOT)
    if status in (4, 5):  # refused, or nothing selected: there is no run
        shutil.rmtree(recordings)
        rundir.discard(directory, created)
    return status


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness merge`."""
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="directories of runs, or of their copies")
    parser.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="the directory of the merged run; default: a new one under runs/"
    )
    judges.add_options(parser)


def main(options: argparse.Namespace) -> int:
    """Merges runs; exits with the status of a run."""
    by = JudgedBy(options.suites, options.known)
    return merge(options.runs, options.run_dir or rundir.fresh(ROOT / "runs"), ["-n", "auto"], by)
