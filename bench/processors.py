"""Processors: runs the suites on emulated processors, in parts, and makes a recording of each processor.

Each call continues where the last one stopped, so that it can be done over time. References are computed by this
machine's own processor. The first parts of a processor are shards of the default tier in eager mode. The last one is
the smoke tier in all modes: XLA's compiler takes longest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bench.emulated_python import PROCESSORS, Processor, set_up
from tf_opdiff.harness.device.server_python import VARIABLE
from tf_opdiff.harness.paths import ROOT

#: Shards of the default tier in eager mode.
SHARDS = 16
#: Seconds until a case counts as hung: an emulated processor is some twenty times slower.
_TIMEOUT = 1800
#: States of a run after which no part of it is missing.
_ENDED = ("complete", "fault")


@dataclass(frozen=True)
class Part:
    """One of the runs on a processor: the name of its folder, and pytest's options."""

    name: str
    options: tuple[str, ...]


def parts(shards: int = SHARDS) -> list[Part]:
    """The parts of a processor, in the order in which they run."""
    eager = [Part(f"eager-{i}-of-{shards}", ("--mode", "eager", "--shard", f"{i}/{shards}")) for i in _numbers(shards)]
    return [*eager, Part("smoke", ("--tier", "smoke", "--xla-cache"))]


def _numbers(count: int) -> range:
    return range(1, count + 1)


def ended(directory: Path) -> bool:
    """Whether a run directory holds a run that ended by itself."""
    try:
        info = json.loads((directory / "run.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(info, dict) and info.get("state") in _ENDED


def run(part: Part, python: Path, folder: Path, more: Sequence[str]) -> int:
    """Runs a part, or the rest of it; returns pytest's exit status."""
    directory = folder / part.name
    command = [sys.executable, "-m", "pytest", "--repro=none", f"--op-timeout={_TIMEOUT}", *more]
    if list((directory / "shards").glob("*.jsonl*")):
        status = _pytest([*command, f"--resume={directory}"], python)
        if status != 4:  # the code changed, or nothing had begun
            return status
    shutil.rmtree(directory, ignore_errors=True)
    return _pytest([*command, f"--run-dir={directory}", *part.options], python)


def _pytest(command: list[str], python: Path) -> int:
    return subprocess.run(command, cwd=ROOT, env={**os.environ, VARIABLE: str(python)}, check=False).returncode


def remaining(processors: Sequence[Processor], folder: Path, shards: int) -> Iterator[tuple[Processor, Part]]:
    """The parts that have not ended: the first part of each processor, then the second of each, and so on."""
    for part in parts(shards):
        for processor in processors:
            if not ended(folder / processor.name / "runs" / part.name):
                yield processor, part


def record(processor: Processor, folder: Path, shards: int, out: Path) -> int:
    """Merges the ended parts of a processor and writes its recording; returns the exit status of the last command.

    The recording says which shards it lacks. What this machine's own recording has too is stored only there.
    """
    runs = folder / processor.name / "runs"
    done = [str(runs / part.name) for part in parts(shards) if ended(runs / part.name)]
    if not done:
        return 0
    merged = folder / processor.name / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    harness = [sys.executable, "-m", "harness"]
    status = subprocess.run([*harness, "merge", *done, f"--run-dir={merged}"], cwd=ROOT, check=False).returncode
    if not (merged / "run.json").exists():
        return status
    base = f"cpu@{version('tensorflow')}"
    command = [*harness, "record", str(merged), "--device", "cpu", "--name", processor.name, "--out", str(out)]
    command += ["--partial", *(["--base", base] if (out / f"{base}.parquet").exists() else [])]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names: Mapping[str, Processor] = {processor.name: processor for processor in PROCESSORS}
    parser = argparse.ArgumentParser(prog="python -m bench.processors", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"{', '.join(names)}; default: all")
    parser.add_argument("--folder", type=Path, default=ROOT / ".processors", help="default: .processors/")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="start no further part after this time; default: 60"
    )
    parser.add_argument("--shards", type=int, default=SHARDS, help=f"of the default tier; default: {SHARDS}")
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
        pythons = {processor.name: set_up(processor, options.folder) for processor in options.processors}
    except RuntimeError as why:
        print(f"processors: {why}", file=sys.stderr)
        return 4
    for name, python in pythons.items():
        print(f"{name}: {python}", flush=True)
    if options.setup:
        return 0
    statuses = [0]
    for processor, part in remaining(options.processors, options.folder, options.shards):
        if time.monotonic() - began > 60 * options.minutes:
            break
        runs = options.folder / processor.name / "runs"
        statuses.append(run(part, pythons[processor.name], runs, options.more))
    statuses += [record(processor, options.folder, options.shards, options.out) for processor in options.processors]
    left = list(remaining(options.processors, options.folder, options.shards))
    print(f"{len(left)} parts are left" if left else "all parts have ended")
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
