"""Archive: the programs of a large run's known failures in one file, because each small file takes a disk block."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.store.formats import untrusted

NAME = "known.tar.xz"
#: The number of programs of known failures from which on they go into an archive.
LEAST = 100
#: Bytes of memory that unpacking may take, besides the programs.
_MEMORY = 128 * untrusted.MIB


def pack(outcomes: Sequence[Outcome], folder: Path) -> list[Outcome]:
    """Moves the programs of known failures into `NAME` in their folder, if there are many.

    Returns the outcomes with the new paths: `repro/known.tar.xz/PROGRAM.py`. Programs of other findings stay files.

    Raises:
      OSError: the archive can't be written; all programs are still files then.
    """
    names = sorted({Path(one.script).name for one in outcomes if one.script and one.verdict == "known"})
    names = [name for name in names if (folder / name).is_file()]
    if len(names) < LEAST:
        return list(outcomes)
    temporary = folder / f"{NAME}.tmp"
    try:
        with tarfile.open(temporary, "w:xz") as archive:
            for name in names:
                archive.add(folder / name, name, recursive=False, filter=_anonymous)
        os.replace(temporary, folder / NAME)
    finally:
        temporary.unlink(missing_ok=True)
    for name in names:
        (folder / name).unlink()
    packed = frozenset(names)
    return [_moved(one) if Path(one.script).name in packed else one for one in outcomes]


def _moved(outcome: Outcome) -> Outcome:
    path = Path(outcome.script)
    return replace(outcome, script=f"{path.parent}/{NAME}/{path.name}")


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without its owner and time, so that equal programs give equal archives."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def read(path: Path) -> dict[str, str]:
    """The text of each program in an archive that may be untrusted, by the name of its file.

    Raises:
      OSError: the file can't be opened.
      ValueError: it is a link, damaged, or expands to more than `harness.store.formats.untrusted.TEXT` bytes.
    """
    with untrusted.opened(path, untrusted.TEXT) as file:
        packed = file.read()
    try:
        unpacker = lzma.LZMADecompressor(memlimit=_MEMORY)
        data = unpacker.decompress(packed, untrusted.TEXT + 1)
        if len(data) > untrusted.TEXT:
            raise ValueError(f"{path}: expected programs of at most {untrusted.TEXT:,} bytes together, got more")
        if not unpacker.eof:
            raise EOFError("it was cut")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            files = [(member, archive.extractfile(member)) for member in archive if member.isreg()]
            return {member.name: file.read().decode(errors="replace") for member, file in files if file}
    except (lzma.LZMAError, tarfile.TarError, EOFError) as why:
        raise ValueError(f"{path} is damaged ({' '.join(str(why).split())})") from why
