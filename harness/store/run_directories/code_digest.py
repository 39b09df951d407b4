"""Code digest: a hash of all that the inputs and promises of cases depend on besides the cases themselves.

It covers the files of the suites and of the harness's lower rooms, every other module that this process has loaded from
outside the installed packages, the installed packages by what their RECORD files list, Python, the processor, the C
library, and the environment variables that numeric libraries read. TensorFlow and Keras are left out: references may
not import them. Whole folders are hashed, because a module may import another one at any time.

A digest says what the files hold, and a process runs what the files held when it imported them. Both are the same if no
file changed since the process began. The times of the last changes of inodes (`st_ctime`) say so: no program sets them
back, unlike `st_mtime`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tf_opdiff.harness.device.processes.server_python import VARIABLE
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system.processor import processor

#: The rooms of the harness that compute inputs and promises, and the rooms below them.
_ROOMS = ("judge", "store", "device", "spec", "system")
#: Folders whose files no recipe and no reference uses: known failures are read after a run.
_APART = {"__pycache__", "tests", "known"}
#: The module of pytest's that runs items; it has no references.
_TEST = ROOT / "suites" / "test_ops.py"
#: The first letters of environment variables that NumPy, mpmath, BLAS, OpenMP and the C library read.
_VARIABLES = (
    *("NPY_", "OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "OMP_", "KMP_", "MPMATH_", "GLIBC_TUNABLES"),
    *("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONHASHSEED", VARIABLE),
)
_TENSORFLOW = ("tensorflow", "keras", "tf_keras", "tf-keras")


class CodeDigest:
    """The digest of this process's code.

    Attributes:
      digest: 32 hexadecimal digits.
    """

    def __init__(self, suites: str) -> None:
        """`suites` names the modules or packages of the suites, with spaces between them."""
        self._began = _began()
        self._folders = [*map(folder_of, suites.split()), *(ROOT / "harness" / room for room in _ROOMS)]
        self._modules, self._outside = set(sys.modules), modules_outside(self._folders, [*sys.modules])
        self._paths = set(self._times())
        hashed = hashlib.blake2b(digest_size=16)
        for fact in (*_facts(), *_packages()):
            hashed.update(f"{fact}\n".encode())
        for path in map(Path, sorted(self._paths)):
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            hashed.update(f"{name} {hashlib.blake2b(_content(path)).hexdigest()}\n".encode())
        self.digest = hashed.hexdigest()

    def _times(self) -> dict[str, float]:
        """The time of the last change of each file, by its path."""
        alone = {str(path): path.stat().st_ctime for path in (*self._outside, *self._folders) if path.is_file()}
        return alone | {path: time for folder in self._folders for path, time in files_within(folder)}

    def change(self) -> str:
        """Why this process may run other code than the digest says, in words; empty if it runs that code."""
        later = set(sys.modules) - self._modules
        if outside := modules_outside(self._folders, later):
            return f"{min(outside)} was imported later"
        self._modules |= later
        try:
            times = self._times()
        except OSError as why:
            return f"{why.filename}: {why.strerror}"
        late = {path for path, changed in times.items() if changed >= self._began} | (times.keys() ^ self._paths)
        return f"{min(late)} changed during the run" if late else ""


def _began() -> float:
    """When this process began, in seconds since the epoch."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:  # not Linux
        return _IMPORTED
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")


_IMPORTED = time.time()


def folder_of(module: str) -> Path:
    """The folder of a package, or the file of a module."""
    spec = importlib.util.find_spec(module)
    places = [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])] if spec else []
    if not places:
        raise ModuleNotFoundError(f"no module named {module}")
    return Path(places[0]).resolve()


def files_within(folder: Path | str) -> Iterator[tuple[str, float]]:
    """The path of each file in a folder, and in its folders but those in `_APART`, with its last change."""
    if os.path.isdir(folder):
        for entry in os.scandir(folder):
            if not entry.is_dir():
                yield entry.path, entry.stat().st_ctime
            elif entry.name not in _APART:
                yield from files_within(entry.path)


def modules_outside(folders: list[Path], names: Iterable[str]) -> set[Path]:
    """The files of the loaded modules of these names that are in no folder, and no installed package's or ours."""
    ours = _within(ROOT / name for name in ("harness", "reports", "tf_opdiff"))
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    files, apart = {_TEST, *folders}, _within((*folders, *installed))
    outside = set()
    for name in names:
        text = _file_of(sys.modules.get(name))
        if text is None or name == "__main__" or text.startswith(apart) or (path := Path(text)) in files:
            continue
        if "tests" in path.parts or not text.startswith(ours):
            outside.add(path)
    return outside


def _within(folders: Iterable[Path]) -> tuple[str, ...]:
    """The beginnings of the paths of all files in these folders: comparing texts is fast for thousands of modules."""
    return tuple(f"{folder}{os.sep}" for folder in folders)


def _file_of(module: object) -> str | None:
    file = getattr(module, "__file__", None)
    return _without_links(file) if isinstance(file, str) and os.path.isfile(file) else None


@cache
def _without_links(file: str) -> str:
    """The path of a file without links; a run asks for those of a thousand modules four times."""
    return os.path.realpath(file)


def _content(path: Path) -> bytes:
    """A file's bytes; also its bytecode if that is older than the last change of the file.

    Python goes by the second and the size: it runs such bytecode if the file changed within a second to another one of
    the same size.
    """
    data = path.read_bytes()
    if path.suffix == ".py":
        bytecode = Path(importlib.util.cache_from_source(str(path)))
        if bytecode.exists() and bytecode.stat().st_mtime <= path.stat().st_ctime:
            data += bytecode.read_bytes()[16:]
    return data


def _facts() -> Iterator[str]:
    """Python, the processor, the C library, the CPUs for threads, and environment variables."""
    yield from (sys.version, str(sys.flags), platform.machine(), " ".join(platform.libc_ver()))
    yield str(sorted(processor().items()))
    yield str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES))


def _packages() -> Iterator[str]:
    """Each installed package with its version, and the hash of the list of its files."""
    for folder in dict.fromkeys(Path(entry).resolve() for entry in sys.path if entry):
        infos = [*folder.glob("*.dist-info"), *folder.glob("*.egg-info")] if folder.is_dir() else []
        for info in sorted(infos):
            if info.name.rpartition("-")[0].rpartition("-")[0] not in _TENSORFLOW:
                record = info / "RECORD"
                yield f"{info.name} {hashlib.blake2b(record.read_bytes()).hexdigest() if record.is_file() else ''}"
