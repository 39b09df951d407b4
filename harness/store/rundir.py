"""Run directory: where a run keeps its shards and its report."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tf_opdiff.harness.store import untrusted
from tf_opdiff.harness.store.shard import Shard

#: What a run writes into its directory before its report.
OWN = ("shards", "logs", "run.json", "run.json.tmp", "claims.json", "junit.xml")


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
