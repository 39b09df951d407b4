"""Earlier programs: programs of findings that showed their discrepancy in an earlier run, and need not run again.

A store is a folder of small files, one for each finding and circumstances, named by their hash. A file says which form
of the finding's program showed it, so that no other form needs to be written again. It is written in one step, so
several runs may use a store at once. The oldest files are removed when there are too many.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.paths import cache_folder
from tf_opdiff.harness.repro.program_text.program_digest import hashed
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

#: The most programs in a store, and the largest size of a file, in bytes.
MOST, LARGEST = 5000, 64 << 10
#: Versions on which no program depends: a program needs only TensorFlow and NumPy.
_APART = ("pytest", "suite commit")


class Shown(msgspec.Struct, forbid_unknown_fields=True):
    """A program showed its discrepancy.

    The run, the time, the exit name, and the shortened output; the number of the program's form, and its hash.
    """

    run: str
    date: str
    how: str
    output: str
    form: int
    program: str


def circumstances(info: RunInfo, timeout: float) -> dict[str, Any]:
    """The facts on which a program's outcome depends, besides text and device: versions, flags, machine, time limit.

    `timeout` is in seconds.
    """
    versions = {name: version for name, version in info.versions.items() if name not in _APART}
    return {"versions": versions, "cuda": info.cuda, "flags": info.flags, "machine": info.machine, "timeout": timeout}


class Store:
    """The programs that reproduced under these circumstances; a run's `devices` say more of each device."""

    def __init__(
        self, run: str, about: Mapping[str, Any], devices: Mapping[str, Any], folder: Path | None = None
    ) -> None:
        """`folder` is by default `reproduced/` in the folder of caches."""
        self._run, self._about, self._devices = run, about, devices
        self._folder = folder or cache_folder() / "reproduced"

    def _path(self, finding: Sequence[str], device: str) -> Path:
        words = {"finding": finding, "device": device, "facts": self._devices.get(device), **self._about}
        return self._folder / f"{hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()}.json"

    def find(self, finding: Sequence[str], device: str) -> Shown | None:
        """The last time that a program showed a finding on this device; None if that is unknown."""
        path = self._path(finding, device)
        try:
            if path.stat().st_size > LARGEST:
                return None
            shown = msgspec.json.decode(path.read_bytes(), type=Shown)
            os.utime(path)
        except (OSError, msgspec.MsgspecError):
            return None
        return shown

    def add(self, finding: Sequence[str], device: str, text: str, form: int, how: str, output: str) -> None:
        """Stores that a program of this text and form showed a finding in this run.

        Does nothing if the store can't be written.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        shown = Shown(self._run, now, how, output, form, hashed(text))
        path = self._path(finding, device)
        temporary = path.with_suffix(f".{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(msgspec.json.encode(shown))
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def prune(self) -> None:
        """Removes the files that were not used for longest, until the store holds `MOST`."""
        with contextlib.suppress(OSError):  # another run may remove files at the same time
            paths = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for path in paths[: max(0, len(paths) - MOST)]:
                path.unlink(missing_ok=True)
