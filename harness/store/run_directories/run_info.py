"""Run info: the request of a run, the machine, and the end of the run; kept as `run.json`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of

#: The state of a run that is complete except for its report, which is being written.
REPORTING = "reporting"
#: The reason why cells have no result if pytest stopped the run early, for `-x` or `--maxfail`.
STOPPED = "was stopped at a failure, as -x and --maxfail ask"


class _About(msgspec.Struct):
    """The checked fields of a device in run.json."""

    asked: bool = False
    device: str = ""
    recorded: str = ""


@dataclass
class RunInfo:
    """The request of a run, its machine and its end; stored as `run.json`.

    `state` is `running`, `reporting`, `complete`, `interrupted`, `fault` or `empty`. A run is `reporting` from its last
    result until its report is written, and `complete` from then on. `devices` maps the name of every requested device,
    and of every device that TensorFlow lists, to its facts; the run did not use those with `"asked": false`. `suites`
    is the module of the suites, `known` the file of known failures, relative to the repository. `cases` are the
    selected cases, `sweeps` says whether the run sweeps 16-bit dtypes. `shard` is the `I/N` of `--shard`, `shards` are
    all that have items, and `division` is a hash that they share. `not_run` lists the planned cells without a result,
    with the reason. `faults` lists other faults of the suite itself. `cache` says how the run used each cache.
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
    shard: str = ""
    shards: list[str] = field(default_factory=list)
    division: str = ""
    deselected: list[str] = field(default_factory=list)
    planned: int = 0
    recorded: int = 0
    damaged: int = 0
    not_run: list[dict[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cache: dict[str, str] = field(default_factory=dict)

    def save(self, directory: Path) -> None:
        """Replaces `run.json` in one step.

        If the disk has no room for a second file and the run has ended, the file is changed in place.

        Raises:
          OSError: the file can't be written.
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
          FileNotFoundError: the directory has no run.json.
          ValueError: the file is a link, or has another form than a run's; the message names the field.
        """
        path = untrusted.inside(directory, "run.json")
        info = untrusted.load(path, cls)
        for name, about in info.devices.items():
            untrusted.convert(about, _About, f"{path}: $.devices[{name!r}]")
            about.setdefault("asked", False)
        return info


def _in_place(path: Path, **changes: Any) -> bool:
    """Writes a JSON object compactly into the bytes that its file has already; returns whether it fits."""
    with path.open("r+b") as file:
        was = file.read()
        text = json.dumps(json.loads(was) | changes, separators=(",", ":")).encode()
        if len(text) > len(was):
            return False
        file.seek(0)
        return file.write(text.ljust(len(was))) == len(was)
