"""Compiled programs: those that XLA compiled in earlier device servers, kept on disk. Imported in device servers only.

TensorFlow can keep programs in a folder. It finds them by a hash of their HLO and compares the HLO, but it checks
neither its own version, nor the processor, nor the bytes, and it writes in place.
https://github.com/tensorflow/tensorflow/blob/06f3c933a97e015e5401acabaf853d3db804522b/tensorflow/compiler/jit/device_executable_persistor.h
So each server has a folder of its own, which holds the programs of one subject (spec, dtype, attributes). They come
from a `FileCache`, which has checksums, under a key with everything that XLA's output depends on.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tf_opdiff.harness.paths import cache_folder
from tf_opdiff.harness.system.file_cache import LARGEST, FileCache
from tf_opdiff.harness.system.processor import processor

FLAGS = "TF_XLA_FLAGS"
#: Bytes that the files of all subjects may have.
LIMIT = 1 << 30
#: The most files of one subject: beyond them, its programs changed so often that old ones are dropped.
_PARTS = 32
#: The first letters of environment variables on which compiled programs depend; ours, `TF_OPDIFF_…`, do not count.
_VARIABLES = ("TF_", "XLA_", "ONEDNN_", "LD_PRELOAD", "LD_LIBRARY_PATH")
#: The first words of lines in `/proc/cpuinfo` that identify the kind of processor.
_PROCESSOR = ("model name", "cpu family", "model", "stepping", "flags", "Features", "CPU ")


class CompiledPrograms:
    """The programs that XLA compiles in this process, which loads those of earlier processes."""

    def __init__(self, circumstances: str, files: FileCache | None = None) -> None:
        """Makes TensorFlow use a folder; construct it before XLA's first use. `circumstances` are part of each key."""
        self._files = files or FileCache(cache_folder() / "xla", LIMIT)
        self._circumstances, self._key = circumstances, ""
        self._folder = Path(tempfile.mkdtemp(prefix="xla-"))
        self._kept: set[str] = set()
        self._parts = 0
        self._visits: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        self._program = ""
        own = f"--tf_xla_persistent_cache_directory={self._folder}"
        os.environ[FLAGS] = f"{os.environ.get(FLAGS, '')} {own}".strip()

    def enter(self, subject: Iterable[str]) -> None:
        """Replaces the programs in the folder by those that are kept for a subject."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(exist_ok=True)
        words = repr((self._circumstances, *subject))
        self._key = hashlib.blake2b(words.encode(), digest_size=20).hexdigest()
        self._kept, self._parts = set(), 0
        self._visits[self._key] += 1
        self.begin(())
        while self._parts < _PARTS and (data := self._files.get(self._part(self._parts))) is not None:
            for name, content in msgspec.msgpack.decode(data, type=dict[str, bytes]).items():
                (self._folder / Path(name).name).write_bytes(content)
                self._kept.add(name)
            self._parts += 1

    def begin(self, program: object) -> None:
        """Says which program of the subject runs next; its text identifies it."""
        words = repr((self._key, self._visits[self._key], program))
        self._program = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()

    def function_name(self, name: str) -> str:
        """The name of a traced function, in place of one that ends with TensorFlow's count of all functions.

        The count is part of the HLO: with it, a program would be found only by a server that built the same programs
        before, in the same order. This name is as unique in this process.
        """
        self._names[self._program] += 1
        return f"{name.rpartition('_')[0]}_{self._program}_{self._names[self._program]}"

    def keep(self) -> None:
        """Keeps the programs that XLA compiled since the last call."""
        new = [path for path in sorted(self._folder.glob("*.pb")) if path.name not in self._kept] if self._key else []
        if not new:
            return
        if self._parts == _PARTS:
            for number in range(_PARTS):
                self._files.drop(self._part(number))
            self._parts = 0
        content = {path.name: path.read_bytes() for path in new}
        self._kept.update(content)
        if sum(map(len, content.values())) <= LARGEST // 2:
            self._files.put(self._part(self._parts), msgspec.msgpack.encode(content))
            self._parts += 1

    def _part(self, number: int) -> str:
        return f"{self._key}-{number}"


def circumstances(tensorflow: str, variants: Iterable[str]) -> str:
    """A hash of TensorFlow's files, the processor, environment variables and a device's variants.

    `tensorflow` is the file of TensorFlow's package.
    """
    package = Path(tensorflow).parent
    hashed = hashlib.blake2b(digest_size=16)
    for record in sorted(package.parent.glob("tensorflow*.dist-info/RECORD")):
        hashed.update(record.read_bytes())
    for library in sorted(package.glob("libtensorflow*")):  # a build from source may have no RECORD
        facts = library.stat()
        hashed.update(f"{library.name} {facts.st_size} {facts.st_mtime_ns}".encode())
    words = [line for line in _cpuinfo().splitlines() if line.startswith(_PROCESSOR)]
    words += sorted(processor().values())  # an emulator's, if one runs this process
    names = sorted(n for n in os.environ if n.startswith(_VARIABLES) and not n.startswith("TF_OPDIFF_"))
    words += [f"{name}={os.environ[name]}" for name in names]
    hashed.update(repr([*words, sorted(variants)]).encode())
    return hashed.hexdigest()


def _cpuinfo() -> str:
    """The text of Linux about the first processor; empty on another system."""
    try:
        return Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    except OSError:
        return ""
