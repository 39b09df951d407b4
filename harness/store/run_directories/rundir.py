"""Run directory: the folder with the shards and the report of a run."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.shards.compressed import SUFFIX, USUAL
from tf_opdiff.harness.store.shards.shard import Shard

#: The files and folders that a run writes before its report.
OWN = (
    *("shards", "logs", "run.json", "run.json.tmp", "kernels.json", "kernels.json.tmp"),
    *("claims.json", "overrides.json", "causes.json", "code.json", "junit.xml"),
)
#: The arrays, errors and crashes of a run, as a table; a report writes it.
OBSERVATIONS = "observations.parquet"
#: Its records, as another such table.
RECORDS = "records.parquet"
#: Bytes of shards from which on processes of their own write the report of a run.
LARGE = 32 * untrusted.MIB


def fresh(base: Path) -> Path:
    """A path under `base` that no other run has."""
    return base / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def create(base: Path, *, chosen: Path | None = None) -> Path:
    """Makes the directory of a new run: `chosen`, or a new one under `base`.

    Raises:
      FileExistsError: `chosen` holds a run already.
      OSError: the directory can't be written.
    """
    directory = chosen or fresh(base)
    if (directory / "run.json").exists():
        raise FileExistsError(f"{directory} holds a run already; expected a new or an empty directory")
    (directory / "shards").mkdir(parents=True, exist_ok=True)
    return directory


def absent(directory: Path) -> list[Path]:
    """The folders of a directory's path that `create` would make, the outermost first."""
    return [path for path in reversed((directory, *directory.parents)) if not path.exists()]


def discard(directory: Path, made: Sequence[Path]) -> None:
    """Removes a run without planned cells, and the folders that were `made` for it, if they have no other content.

    If the directory existed before the run, only the run's own files are removed.
    """
    own = (directory,) if directory in made else (directory / name for name in OWN)
    with contextlib.suppress(OSError):  # it belongs to another run, or was never made
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
    """The path of a writer's new shard; it begins with the time, as shards are read in the order of their names."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return directory / "shards" / f"{now}-{writer}-{secrets.token_hex(3)}.jsonl"


def shards(directory: Path) -> list[Path]:
    """The shards of a run, compressed or not, in reading order.

    If a cell has two lines of one kind, the last one counts.

    Raises:
      ValueError: a shard is a link, or leads out of the run.
    """
    folder = untrusted.inside(directory, "shards")
    plain = {path.name for path in folder.glob("*.jsonl")}
    packed = {path.name for path in folder.glob(f"*.jsonl{SUFFIX}")}
    names = plain | {name for name in packed if name.removesuffix(SUFFIX) not in plain}  # a process was killed between
    return [untrusted.inside(directory, f"shards/{name}") for name in sorted(names)]


def is_large(directory: Path, least: int | None = None) -> bool:
    """Whether the shards of a run have at least `least` bytes, `LARGE` by default; a compressed one has `USUAL` times
    its size.
    """
    sizes = (path.stat().st_size * (USUAL if path.suffix == SUFFIX else 1) for path in shards(directory))
    return sum(sizes) >= (LARGE if least is None else least)
