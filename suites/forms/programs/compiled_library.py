"""Compiled library: ops in C++, built against the TensorFlow that is installed; nothing is downloaded."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tf_opdiff.harness.spec.spec import Unavailable
from tf_opdiff.harness.system import compiler

OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-w")


def built(tf: Any, source: Path) -> str:
    """The path of the library of one C++ file, with kernels for CPUs; see `library`.

    Raises:
      Unavailable: there is no C++ compiler.
      RuntimeError: the compiler fails.
    """

    def make(output: Path, cxx: str, headers: list[str], linked: list[str]) -> None:
        run([cxx, *OPTIONS, *headers, "-shared", str(source), *linked, "-o", str(output)])

    return str(library(tf, source.stem.replace("_", "-"), (source,), make, OPTIONS))


def library(tf: Any, name: str, sources: Sequence[Path], make: Callable[..., None], options: Sequence[Any]) -> Path:
    """The path of a library that `make(path, cxx, headers, linked)` makes of the sources, with the files next to it.

    It is made once for the TensorFlow, the compiler, the options and the sources that there are.

    Raises:
      Unavailable: there is no C++ compiler.
      RuntimeError: the compiler fails.
    """
    cxx, headers, linked = cpp_compiler(), tf.sysconfig.get_compile_flags(), tf.sysconfig.get_link_flags()
    parts = [tf.__version__, cxx, *options, headers, linked]
    key = hashlib.sha256("\0".join(map(str, parts)).encode() + b"".join(s.read_bytes() for s in sources))
    cache = compiler.cache()
    path = cache / f"{name}-{tf.__version__}-{key.hexdigest()[:16]}.so"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # others that need it wait, instead of building it as well
        if not path.exists():
            print(f"{cxx} builds {path.name}", file=sys.stderr, flush=True)  # read where it hangs
            with compiler.workspace() as folder:
                output = folder / path.name
                make(output, cxx, headers, linked)
                for beside in folder.glob("*.txt"):
                    os.replace(beside, cache / beside.name)
                os.replace(output, path)
    return path


def cpp_compiler() -> str:
    """The C++ compiler: `$CXX`, or else what is on the PATH.

    Raises:
      Unavailable: there is no C++ compiler.
    """
    names = [*shlex.split(os.environ.get("CXX", ""))[:1], "g++", "c++", "clang++"]
    compiler_path = next(filter(None, map(shutil.which, names)), None)
    if not compiler_path:
        raise Unavailable("no C++ compiler: there is no $CXX, and no g++, c++ or clang++ on the PATH")
    return compiler_path


def run(command: list[str]) -> None:
    """Runs a compiler.

    Raises:
      RuntimeError: it fails or takes too long; the message has its first errors.
    """
    if why := compiler.failure(command):
        raise RuntimeError(why)
