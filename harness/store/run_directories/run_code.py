"""Run code: the files that decide the results of a run, each with a hash; stored as `code.json`.

These are the files of the suites and of known failures, those of the rooms of the harness that compute results and
judge them, and modules elsewhere that the process has loaded. Documents, tests, reports and the programs of findings
are left out: they change no result.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.run_directories.code_digest import files_within, folder_of, modules_outside

NAME = "code.json"
#: The folders of the rooms of the harness that compute results and judge them.
ROOMS = tuple(
    f"harness/{room}/" for room in ("run", "cases", "sweep", "judge", "remote", "store", "device", "spec", "system")
)


class RunCode(msgspec.Struct):
    """Hashes by path; paths are relative to the repository if they are in it.

    Attributes:
      files: the files of the suites, of known failures and of the harness.
      loaded: the other modules that the process had loaded, such as those that suites elsewhere import.
    """

    files: dict[str, str]
    loaded: dict[str, str]

    @classmethod
    def present(cls, suites: str, known: str) -> RunCode:
        """The code as it is now.

        Args:
          suites: the modules or packages of the suites, with spaces between them; they are imported already.
          known: the file or folder of known failures, relative to the repository.
        """
        folders = [*map(folder_of, suites.split()), ROOT / known, *(ROOT / room for room in ROOMS)]
        files = {path for path in folders if path.is_file()}
        files |= {Path(path) for folder in folders for path, _ in files_within(folder)}
        return cls(_hashes(files), _hashes(modules_outside(folders, [*sys.modules])))

    @classmethod
    def load(cls, directory: Path) -> RunCode | None:
        """The code of a run; None for a run of an earlier version, which did not store it.

        Raises:
          ValueError: the file is a link, or malformed.
        """
        path = untrusted.inside(directory, NAME)
        return untrusted.load(path, cls) if path.exists() else None

    def save(self, directory: Path) -> None:
        """Writes the hashes into the directory of a run."""
        (directory / NAME).write_text(json_of({"files": self.files, "loaded": self.loaded}, indent=0))

    def changes(self, now: RunCode) -> dict[str, str]:
        """Path → `changed`, `added` or `removed`, for each file that differs `now`.

        Another process may have loaded other modules. So a loaded module differs only if its file does.
        """
        loaded = {name: now.loaded.get(name) or now.files.get(name) or _hash(ROOT / name) for name in self.loaded}
        happened = {}
        for before, after in ((self.files, now.files), (self.loaded, loaded)):
            for name in before.keys() | after.keys():
                if before.get(name) != after.get(name):
                    happened[name] = "added" if name not in before else "changed" if after.get(name) else "removed"
        return happened


def _hashes(paths: Iterable[Path]) -> dict[str, str]:
    visible = sorted(path for path in paths if not path.name.startswith("."))
    return {str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path): _hash(path) for path in visible}


def _hash(path: Path) -> str:
    """The hash of a file; empty if it is absent."""
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() if path.is_file() else ""


def sentence(happened: Mapping[str, str], most: int = 5) -> str:
    """The files that differ, in words; at most so many of them by name."""
    names = [f"{name} ({happened[name]})" for name in sorted(happened)]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
