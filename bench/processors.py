"""Processors: runs the suites on emulated processors and adds what they observe to a recording of each processor.

A part is up to a thousand cases that the recording lacks: first the default tier in eager mode, a case of each op
before all others, then the smoke tier in the other modes, where XLA's compiler takes longest. Each call continues where
the last one stopped, on any machine. References are computed by the machine's own processor.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from bench.emulated_python import PROCESSORS, Processor, set_up
from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.device.processes.server_python import VARIABLE
from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.recordings.recording import Recording

#: Cases of a part. A part starts an emulated process for 40 seconds.
CASES = 1000
#: Seconds until a case counts as hung: an emulated processor is some twenty times slower.
_TIMEOUT = 1800
#: States of a run after which no part of it is missing.
_ENDED = ("complete", "fault")


@dataclass(frozen=True)
class Part:
    """Cases that run together, and their modes."""

    modes: tuple[str, ...]
    cases: tuple[str, ...]

    @property
    def options(self) -> list[str]:
        """Pytest's options."""
        return [*(f"--mode={mode}" for mode in self.modes), *(f"--case={case}" for case in self.cases)]


def parts(catalog: Catalog, recorded: Collection[tuple[str, str]], size: int = CASES) -> list[Part]:
    """The parts without the recorded cells (case, mode), in the order in which they run."""
    eager = _lacking(_each_op_first(catalog.select(tier="default")), ("eager",), (), recorded)
    others = tuple(mode for mode in MODES if mode != "eager")
    smoke = _lacking(catalog.select(tier="smoke"), others, set(chain.from_iterable(catalog.smoke.values())), recorded)
    pairs = [(("eager",), eager), (others, smoke)]
    return [Part(modes, tuple(cases[i : i + size])) for modes, cases in pairs for i in range(0, len(cases), size)]


def _lacking(
    items: Iterable[Item], modes: Sequence[str], only: Collection[str], recorded: Collection[tuple[str, str]]
) -> list[str]:
    plans = [Plan(Device("cpu"), mode) for mode in modes]
    cells = chain.from_iterable(planned(item, plans, only, sweeps=not only) for item in items)
    return list(dict.fromkeys(case.id for case, plan in cells if (case.id, plan.mode) not in recorded))


def _each_op_first(items: Sequence[Item]) -> list[Item]:
    """The items: first those with an op that no item before them has, then one of each other spec, then the rest."""
    ops: set[str] = set()
    specs: set[str] = set()
    rank: dict[str, int] = {}
    for item in items:
        if item.spec.every_op - ops:
            rank[item.id] = 0
        else:
            rank[item.id] = 2 if item.spec.name in specs else 1
        ops |= item.spec.every_op
        specs.add(item.spec.name)
    return sorted(items, key=lambda item: rank[item.id])


def recorded(processor: Processor, out: Path) -> set[tuple[str, str]]:
    """The cells (case, mode) that the recording of a processor has."""
    path = out / f"{processor.name}@{version('tensorflow')}.parquet"
    return Recording(path).cells if path.exists() else set()


def ended(directory: Path) -> bool:
    """Whether a run directory holds a run that ended by itself."""
    try:
        info = json.loads((directory / "run.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(info, dict) and info.get("state") in _ENDED


def run(part: Part, python: Path, directory: Path, more: Sequence[str]) -> int:
    """Runs a part, or the rest of the one that an earlier call began; returns pytest's exit status."""
    command = [sys.executable, "-m", "pytest", "--repro=none", f"--op-timeout={_TIMEOUT}", *more]
    if list((directory / "shards").glob("*.jsonl*")):
        status = _pytest([*command, f"--resume={directory}"], python)
        if status != 4:  # the code changed, or nothing had begun
            return status
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    options = directory.with_suffix(".options")
    options.write_text("\n".join(part.options))
    return _pytest([*command, f"--run-dir={directory}", "--xla-cache", f"@{options}"], python)


def _pytest(command: list[str], python: Path) -> int:
    return subprocess.run(command, cwd=ROOT, env={**os.environ, VARIABLE: str(python)}, check=False).returncode


def record(processor: Processor, directory: Path, out: Path) -> int:
    """Adds a run that ended to the recording of a processor and moves the run aside; returns the exit status.

    What this machine's own recording has too is stored only there.
    """
    base = f"cpu@{version('tensorflow')}"
    command = [sys.executable, "-m", "harness", "record", str(directory), "--device", "cpu", "--name", processor.name]
    command += ["--out", str(out), "--partial", "--extend"]
    command += ["--base", base] if (out / f"{base}.parquet").exists() else []
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status == 0:
        directory.rename(directory.with_name(time.strftime("ended-%Y%m%dT%H%M%S")))
    return status


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names: Mapping[str, Processor] = {processor.name: processor for processor in PROCESSORS}
    parser = argparse.ArgumentParser(prog="python -m bench.processors", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"{', '.join(names)}; default: all")
    parser.add_argument("--folder", type=Path, default=ROOT / ".processors", help="default: .processors/")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="start no further part after this time; default: 60"
    )
    parser.add_argument("--cases", type=int, default=CASES, help=f"of a part; default: {CASES}")
    parser.add_argument("--suites", default=SUITES, help=f"default: {SUITES}")
    parser.add_argument("--out", type=Path, default=ROOT / "recordings", help="of recordings; default: recordings/")
    parser.add_argument("--setup", action="store_true", help="only set up the emulators, and print their Pythons")
    options, options.more = parser.parse_known_args(arguments)
    for name in options.name:
        if name not in names:
            parser.error(f"no processor {name!r}; there is {', '.join(names)}")
    options.processors = [names[name] for name in options.name or names]
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line names; returns the worst exit status. Unknown options go to pytest."""
    options, began = _options(arguments), time.monotonic()
    try:
        pythons = {processor: set_up(processor, options.folder) for processor in options.processors}
    except RuntimeError as why:
        print(f"processors: {why}", file=sys.stderr)
        return 4
    for processor, python in pythons.items():
        print(f"{processor.name}: {python}", flush=True)
    if options.setup:
        return 0
    catalog, statuses = Catalog.load(options.suites), [0]
    more = [f"-oopdiff_suites={options.suites}", *options.more]
    left = {processor: parts(catalog, recorded(processor, options.out), options.cases) for processor in pythons}
    while any(left.values()) and time.monotonic() - began < 60 * options.minutes:
        for processor in [processor for processor, remaining in left.items() if remaining]:
            directory, before = options.folder / processor.name / "run", left[processor]
            statuses.append(run(before[0], pythons[processor], directory, more))
            if not ended(directory) or record(processor, directory, options.out):
                return max(*statuses, 1)
            left[processor] = parts(catalog, recorded(processor, options.out), options.cases)
            if left[processor] == before:
                print(f"{processor.name}: the recording still lacks the cells of a part that ran", file=sys.stderr)
                return 1
    for processor, remaining in left.items():
        print(f"{processor.name}: {len(remaining)} parts are left" if remaining else f"{processor.name}: all recorded")
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
