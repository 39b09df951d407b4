"""Run directory: where a run keeps its shards, what it was asked to do, and what became of that."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store import line_types, untrusted
from tf_opdiff.harness.store.record import Record, Shard, json_of

#: What a run writes into its directory before its report.
OWN = ("shards", "logs", "run.json", "run.json.tmp", "claims.json", "junit.xml")
#: Why cells have no result where pytest stopped the run: after `-x`, or as many failures as `--maxfail` allows.
STOPPED = "was stopped at a failure, as -x and --maxfail ask"
Cell = tuple[str, str, str]  # case id, device, mode


class _About(msgspec.Struct):
    """What is read of what run.json says of a device."""

    asked: bool = False
    device: str = ""
    recorded: str = ""


@dataclass
class RunInfo:
    """What a run was asked to do, on what, and how it ended; kept as `run.json`.

    `state` is `running`, `complete`, `interrupted`, `fault` or `empty`. `devices` maps the name of every device that
    TensorFlow lists, or that was asked for, to what is known of it; those with `"asked": false` were not run.
    `suites` is the module of the suites, `known` the file of known failures, relative to the repository.
    `cases` are those to which the run was narrowed, `sweeps` whether 16-bit dtypes are swept. `not_run` lists the
    planned cells that have no result, with the reason; `faults` is what else is wrong with the suite itself.
    """

    run: str
    started: str
    host: str = ""
    tf: str = ""
    cuda: str = ""
    state: str = "running"
    ended: str = ""
    exit_status: int | None = None
    arguments: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    suites: str = ""
    known: str = ""
    modes: list[str] = field(default_factory=list)
    tier: str = "default"
    cases: list[str] = field(default_factory=list)
    sweeps: bool = True
    deselected: list[str] = field(default_factory=list)
    planned: int = 0
    recorded: int = 0
    damaged: int = 0
    not_run: list[dict[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def save(self, directory: Path) -> None:
        """Replaces `run.json` in one step; of a run that ended, in place where the disk has no room for another file.

        Raises:
          OSError: it can't be written.
        """
        path, temporary = directory / "run.json", directory / "run.json.tmp"
        try:
            temporary.unlink(missing_ok=True)  # a link there would lead elsewhere
            temporary.write_text(json_of(asdict(self), indent=1))
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            if self.state == "running" or not _in_place(path, state=self.state, exit_status=self.exit_status):
                raise

    @classmethod
    def load(cls, directory: Path) -> RunInfo:
        """Reads `run.json`.

        Raises:
          FileNotFoundError: the directory is not that of a run.
          ValueError: the file is a link, or not what a run writes; the message names the field.
        """
        path = untrusted.inside(directory, "run.json")
        info = untrusted.load(path, cls)
        for name, about in info.devices.items():
            untrusted.convert(about, _About, f"{path}: $.devices[{name!r}]")
            about.setdefault("asked", False)
        return info


def _in_place(path: Path, **changes: Any) -> bool:
    """Changes a JSON object within the bytes that its file has, by leaving out its layout; whether that is enough."""
    with path.open("r+b") as file:
        was = file.read()
        text = json.dumps(json.loads(was) | changes, separators=(",", ":")).encode()
        if len(text) > len(was):
            return False
        file.seek(0)
        return file.write(text.ljust(len(was))) == len(was)


@dataclass(frozen=True)
class Merged:
    """All shards of a run, read as one.

    `results` maps each cell to its result line, with the observation and the records against NumPy; `compared` maps it
    to its records against other plans; `records` of both are `Record`s. A cell that has both lines and a record is
    done. Where a cell has two, the last counts. `seconds` is how long each item took, `lost` why a campaign has no
    result of one.
    """

    items: frozenset[str]
    started: frozenset[Cell]
    results: dict[Cell, dict[str, Any]]
    compared: dict[Cell, dict[str, Any]]
    damaged: int
    seconds: dict[str, float]
    lost: dict[str, str]

    @property
    def records(self) -> list[Record]:
        lines = (line for cell in self.results for line in (self.results[cell], self.compared.get(cell)) if line)
        return [record for line in lines for record in line["records"]]

    @property
    def done(self) -> set[Cell]:
        return {cell for cell, line in self.results.items() if line["records"] and cell in self.compared}

    def records_of(self, cells: Iterable[Cell]) -> list[Record] | None:
        """The records of some cells; None where one of them is not done."""
        wanted = list(cells)
        if not set(wanted) <= self.done:
            return None
        return [r for lines in (self.results, self.compared) for cell in wanted for r in lines[cell]["records"]]


def fresh(base: Path) -> Path:
    """A path under `base` that no other run has."""
    return base / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def create(base: Path, *, chosen: Path | None = None) -> Path:
    """Makes the directory of a new run: `chosen`, or a fresh one under `base`.

    Raises:
      FileExistsError: `chosen` holds a run already.
      OSError: it can't be written.
    """
    directory = chosen or fresh(base)
    if (directory / "run.json").exists():
        raise FileExistsError(f"{directory} holds a run already; expected a new or an empty directory")
    (directory / "shards").mkdir(parents=True, exist_ok=True)
    return directory


def absent(directory: Path) -> list[Path]:
    """What `create` would make of a directory's path: the folders that do not exist, the outermost first."""
    return [path for path in reversed((directory, *directory.parents)) if not path.exists()]


def discard(directory: Path, made: Sequence[Path]) -> None:
    """Removes a run in which nothing was planned, and the folders that were `made` for it, if nothing else is there.

    Of a directory that was there before, what is not the run's own stays.
    """
    own = (directory,) if directory in made else (directory / name for name in OWN)
    with contextlib.suppress(OSError):  # another one's, or never made
        for path in own:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for folder in reversed(made):
            if folder != directory:
                folder.rmdir()


def open_shard(directory: Path, worker: str) -> Shard:
    """A new shard for one worker process."""
    return Shard(shard_path(directory, f"{worker}-{os.getpid()}"))


def shard_path(directory: Path, writer: str) -> Path:
    """Where a new shard of a writer is to be; the time is in front: of two lines for a cell the last one counts."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return directory / "shards" / f"{now}-{writer}-{secrets.token_hex(3)}.jsonl"


def shards(directory: Path) -> list[Path]:
    """The shards of a run, in the order in which they are read: of two lines for a cell the last one counts.

    Raises:
      ValueError: one is a link, or leads out of the run.
    """
    folder = untrusted.inside(directory, "shards")
    return [untrusted.inside(directory, f"shards/{path.name}") for path in sorted(folder.glob("*.jsonl"))]


def merge(directories: Iterable[Path]) -> Merged:
    """Reads every shard of the given runs; reading a shard twice changes nothing.

    Raises:
      ValueError: a shard is a link, or a line of it is whole and of another type than `harness.store.line_types` says.
    """
    items: set[str] = set()
    started: set[Cell] = set()
    results: dict[Cell, dict[str, Any]] = {}
    compared: dict[Cell, dict[str, Any]] = {}
    seconds: dict[str, float] = {}
    lost: dict[str, str] = {}
    damaged = 0
    for line in (line for path in sorted(p for d in directories for p in shards(d)) for line in line_types.read(path)):
        if line is None:
            damaged += 1
        elif line["line"] == "plan":
            items.update(line["items"])
        elif line["line"] == "start":
            started.add((line["case"], line["device"], line["mode"]))
        elif line["line"] == "item":
            seconds[line["item"]] = line["seconds"]
        elif line["line"] == "lost":
            lost.update(dict.fromkeys(line["items"], line["why"]))
        elif line["line"] in ("result", "compare"):
            into = results if line["line"] == "result" else compared
            line["records"] = [Record.from_json(row) for row in line["records"]]
            line.setdefault("observation", {})
            into[line["case"], line["device"], line["mode"]] = line
    return Merged(frozenset(items), frozenset(started), results, compared, damaged, seconds, lost)
