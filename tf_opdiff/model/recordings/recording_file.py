"""Recording file: the recorded ops of a program in one file, for replays on another machine or by another TensorFlow.

The file is an archive of zip without compression: `about.json`, `ops.msgpack`, and `values` as `ValueWriter` writes
them. It has no pickles. The archive's checksums show damage.
"""

from __future__ import annotations

import hashlib
import math
import platform
import zipfile
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes  # noqa: F401  NumPy knows the names of its dtypes
import msgspec
import numpy as np

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.system.processor import processor
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.values import Stored
from tf_opdiff.model.request import ModelRequest

FORMAT = 1


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Who wrote a recording: its format, TensorFlow's version, the machine, and the program with its inputs."""

    format: int
    tf: str
    machine: str
    program: str
    inputs: str

    @classmethod
    def here(cls, request: ModelRequest, tf: str) -> About:
        """The facts of a program that is recorded on this machine; `tf` is TensorFlow's version."""
        return cls(
            format=FORMAT,
            tf=tf,
            machine=f"{platform.node()} ({processor()['processor']})",
            program=f"{request.module}:{request.name}",
            inputs=hashlib.sha256(Path(request.inputs).read_bytes()).hexdigest(),
        )


class _Ops(msgspec.Struct, frozen=True):
    ops: tuple[RecordedOp, ...]
    values: tuple[Stored | None, ...]
    constants: frozenset[int]
    seconds: float
    plain_seconds: float


def write_recording(path: Path, recording: Recording, about: About) -> None:
    """Writes a recording to a file."""
    r = recording
    ops = _Ops(r.ops, r.values, r.constants, r.seconds, r.plain_seconds)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.json", msgspec.json.encode(about))
        archive.writestr("ops.msgpack", msgspec.msgpack.encode(ops))
        archive.write(r.file, "values")


def read_recording(path: Path, request: ModelRequest, file: Path) -> tuple[Recording, About]:
    """Reads a recording of a program; its values go to `file`.

    Raises:
      ValueError: the file can't be read, is damaged, has another format, or is of another program or other inputs; the
        message is one line.
    """
    try:
        with untrusted.opened(path, untrusted.ANY) as opened, zipfile.ZipFile(opened) as archive:
            about = untrusted.decode(archive.read("about.json"), About, str(path))
            _check(about, request, path)
            ops = msgspec.msgpack.decode(archive.read("ops.msgpack"), type=_Ops)
            with archive.open("values") as values, file.open("wb") as copy:
                while part := values.read(untrusted.MIB):
                    copy.write(part)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, NotImplementedError, msgspec.MsgspecError) as why:
        raise ValueError(f"{path}: expected a recording of format {FORMAT} ({' '.join(str(why).split())})") from why
    if wrong := next(_wrong(ops, file.stat().st_size), ""):
        raise ValueError(f"{path}: damaged: {wrong}")
    return Recording(ops.ops, ops.values, file, ops.constants, ops.seconds, ops.plain_seconds), about


def _check(about: About, request: ModelRequest, path: Path) -> None:
    """Refuses a recording of another format or program."""
    here = About.here(request, about.tf)
    if about.format != FORMAT:
        raise ValueError(f"{path}: expected a recording of format {FORMAT}, got {about.format}")
    if about.program != here.program:
        raise ValueError(f"{path}: expected a recording of {here.program}, got one of {about.program}")
    if about.inputs != here.inputs:
        raise ValueError(f"{path}: {about.program} was recorded with other inputs than {Path(request.inputs).name}")


def _wrong(ops: _Ops, size: int) -> Iterator[str]:
    """What does not fit together, in a few words each."""
    for number, stored in enumerate(ops.values):
        if stored is None:
            continue
        try:
            item = 0 if stored.dtype == "bytes" else np.dtype(stored.dtype).itemsize
        except TypeError:
            item = -1
        fits = not item or item * math.prod(stored.shape) == stored.size
        if not fits or not 0 <= stored.offset <= stored.offset + stored.size <= size:
            yield f"value {number} is not in the file"
    present = {*range(len(ops.values))}
    for number, op in enumerate(ops.ops):
        changed = {v for u in op.updates for v in (u.before, u.after) if v is not None}
        if op.number != number or not {*op.inputs, *op.outputs, *changed} <= present:
            yield f"op {number} takes a value that does not exist"
