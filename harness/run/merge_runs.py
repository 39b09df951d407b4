"""Merging: runs from several machines made into one, as if their devices had run side by side;
`python -m harness merge`."""

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
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store import judges, recording_writer, rundir
from tf_opdiff.harness.store.environment import apart, joined, of_devices, of_flags
from tf_opdiff.harness.store.judges import OURS, JudgedBy
from tf_opdiff.harness.store.merged import Cell
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record_devices import Part
from tf_opdiff.harness.store.recorded_device import About
from tf_opdiff.harness.system.interrupt import run_child


def _circumstances(about: About) -> dict[str, str]:
    """What has to be the same for two runs' observations to be those of one device."""
    libraries = {name: about.versions.get(name, "") for name in ("cudnn", "driver")}
    return {
        "TensorFlow": about.tf,
        **of_devices({about.device: about.details}, {"CUDA": about.cuda, **libraries}),
        **of_flags(about.flags, onednn_known=variant.ONEDNN in about.details),
    }


def together(parts: Sequence[Part]) -> tuple[dict[str, list[tuple[Part, str]]], list[str]]:
    """The devices of the merged run, each with the runs that have a part of it and its name there; and what to say.

    Runs in which a device has one name and the same circumstances have a part of it each. Where they ran different
    versions of TensorFlow, each has a name of its own, such as `cpu@2.20.0`.

    Raises:
      ValueError: a device's runs differ in something else.
    """
    found: dict[str, list[tuple[Part, str]]] = {}
    notes = []
    for device in dict.fromkeys(d for part in parts for d in part.devices):
        having = [part for part in parts if device in part.devices]
        by_tf: dict[str, list[Part]] = {}
        for part in having:
            by_tf.setdefault(part.info.tf, []).append(part)
        if len(by_tf) > 1:
            notes.append(f"{device} ran with TensorFlow {', '.join(by_tf)}: each is a device of its own")
        for tf, mine in by_tf.items():
            differing = apart({n: _circumstances(part.about(device, device)) for n, part in enumerate(mine)})
            if differing:
                said = "; ".join(
                    f"{name} {' and '.join(v or '(none)' for v in vs.values())}" for name, vs in differing.items()
                )
                runs = ", ".join(str(part.directory) for part in mine)
                raise ValueError(f"{device} is not the same device in {runs}: {said}. Record each under its own name")
            processors = sorted({described(part.info.machine) for part in mine})
            if len(processors) > 1:
                notes.append(f"{device} ran on several processors: {'; '.join(processors)}")
            found[f"{device}@{tf}" if len(by_tf) > 1 else device] = [(part, device) for part in mine]
    return found, notes


def union(name: str, having: Sequence[tuple[Part, str]]) -> tuple[About, dict[Cell, dict[str, Any]], list[str]]:
    """A device's cells from all runs that have some: what it is, their lines, and what to say of doubled ones.

    Where two runs have different bits for one cell, that is a fault: it is named, and the first one's are taken.
    """
    lines: dict[Cell, dict[str, Any]] = {}
    doubled: Counter[tuple[str, str]] = Counter()
    differing: Counter[tuple[str, str]] = Counter()
    origin: dict[Cell, str] = {}
    for part, device in having:
        for cell, line in part.lines(device).items():
            if cell not in lines:
                lines[cell], origin[cell] = line, part.info.run
                continue
            doubled[origin[cell], part.info.run] += 1
            if _bits(lines[cell]) != _bits(line):
                differing[origin[cell], part.info.run] += 1
    abouts = [part.about(device, name) for part, device in having]
    notes = [f"{n} cells of {name} are in both {a} and {b}" for (a, b), n in doubled.items()]
    faults = [f"{n} cells of {name} have other bits in {a} than in {b}" for (a, b), n in differing.items()]
    about = replace(
        abouts[0],
        host=", ".join(dict.fromkeys(a.host for a in abouts)),
        machine=joined(a.machine for a in abouts),
        runs=tuple(dict.fromkeys(r for a in abouts for r in a.runs)),
        started=min(a.started for a in abouts),
        faults=tuple(dict.fromkeys([*(f for a in abouts for f in a.faults), *faults])),
    )
    return about, lines, notes


def _bits(line: Mapping[str, Any]) -> Any:
    """What a cell's result is, without how long it took."""
    seen = line["observation"]
    if not seen:
        return [(r.quantity, r.kind, r.mismatched) for r in line["records"]]
    return {**Observation.from_json(seen).to_json(), "seconds": 0}


def merge(runs: Iterable[Path], directory: Path, arguments: Sequence[str] = (), judged_by: JudgedBy = OURS) -> int:
    """Judges the observations of some runs together, in a new run of that directory; returns its exit status.

    Raises:
      FileNotFoundError: one is not the directory of a run.
      ValueError: they can't be merged; the message names what disagrees, or that there is nothing to merge.
      FileExistsError: the directory holds a run already.
    """
    parts = [Part.read(run) for run in runs]
    if not any(part.merged.results for part in parts):
        raise ValueError(f"nothing to merge: no result in {', '.join(str(part.directory) for part in parts)}")
    if others := [said for part in parts if (said := judged_by.other(part.info))]:
        raise ValueError("; ".join(others))
    if unknown := sorted({m for part in parts for m in part.info.modes} - {*MODES}):
        raise ValueError(f"mode {unknown[0]!r} in run.json: expected one of {', '.join(MODES)}")
    devices, notes = together(parts)
    made = rundir.absent(directory)
    rundir.create(directory.parent, chosen=directory)
    kept = directory / "recordings"
    for name, having in devices.items():
        about, lines, more = union(name, having)
        recording_writer.write(about, lines, kept)
        notes += more
    for line in [*notes, *(fault for part in parts for fault in part.faults)]:
        print(f"merge: {line}", flush=True)
    modes = list(dict.fromkeys(m for p in parts for m in p.info.modes))
    command = [sys.executable, "-m", "pytest", "-o", f"opdiff_suites={judged_by.suites}"]
    command += ["-o", f"opdiff_known={judged_by.known}"]
    command += ["--tier", "full", f"--run-dir={directory}", f"--recordings={kept}", *arguments, "suites"]
    command += [word for device in devices for word in ("--device", device)] + [w for m in modes for w in ("--mode", m)]
    status = run_child(command, ROOT)
    if status in (4, 5):  # refused, or nothing selected: there is no run
        shutil.rmtree(kept)
        rundir.discard(directory, made)
    return status


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness merge`."""
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="directories of runs, or of their copies")
    parser.add_argument("--run-dir", type=Path, metavar="DIR", help="default: a new one under runs/")
    judges.add_options(parser)


def main(options: argparse.Namespace) -> int:
    """Merges; the exit status is that of a run."""
    by = JudgedBy(options.suites, options.known)
    return merge(options.runs, options.run_dir or rundir.fresh(ROOT / "runs"), ["-n", "auto"], by)
