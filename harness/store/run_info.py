"""Run info: the request of a run, the machine, and the end of the run; kept as `run.json`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store import untrusted
from tf_opdiff.harness.store.json_text import json_of

#: Why cells have no result where pytest stopped the run: after `-x`, or as many failures as `--maxfail` allows.
STOPPED = "was stopped at a failure, as -x and --maxfail ask"


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
