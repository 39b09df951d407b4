"""Rebase: writes recordings again with another base, or with none; `python -m harness rebase`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.recordings import recording_writer
from tf_opdiff.harness.store.recordings.recording import Recording, find, names
from tf_opdiff.harness.store.recordings.recording_format import SUFFIX


def found(name: str, folder: Path) -> Recording:
    """The recording called `name` in a folder.

    Raises:
      LookupError: the folder has no such recording.
      ValueError: the recording is damaged.
    """
    if recording := find([name], folder).get(name):
        return recording
    raise LookupError(f"no recording {name!r} in {folder}; there is {', '.join(names(folder)) or 'none'}")


def rebase(recording: Recording, *, base: str = "") -> Path:
    """Writes a recording again, in its place and in the newest format; returns its path.

    Results that are equal in the recording called `base`, in the same folder, are left out; without one, none are.

    Raises:
      ValueError: the recording is damaged, the base can't be one, or the recording is the base of others.
    """
    path = recording.path
    about = replace(recording.about, name=path.name.removesuffix(SUFFIX))
    return recording_writer.write_rows(about, recording.table, path.parent, base=base)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `python -m harness rebase`."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="a recording, such as cpu@2.18.1")
    base = "another recording there: results that are equal in it are not stored again; default: none"
    parser.add_argument("--base", default="", metavar="OTHER", help=base)
    folder = "the folder of the recordings; default: recordings/"
    parser.add_argument("--recordings", type=Path, default=ROOT / "recordings", metavar="DIR", help=folder)


def main(options: argparse.Namespace) -> int:
    """Writes the recordings again; prints the path of each and its size before and after."""
    for name in options.names:
        recording = found(name, options.recordings)
        before = recording.path.stat().st_size
        after = (path := rebase(recording, base=options.base)).stat().st_size
        print(f"{path}: {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB now")
    return 0
