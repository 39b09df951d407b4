"""Build: this folder's ops as a library, compiled against the TensorFlow that is installed; nothing is downloaded."""

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

HERE = Path(__file__).parent
SOURCES = tuple(HERE / name for name in ("skip_cube.cc", "skip_cube.cu.cc"))
OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-w")
CUDA_OPTIONS = ("-std=c++17", "-O2", "-arch=all-major", "-Xcompiler", "-fPIC", "-x", "cu")


def compiled(tf: Any) -> str:
    """The path of the library, which is built where the folder of caches does not have it.

    With CUDA's compiler on the PATH, and a TensorFlow that is built for CUDA, it has kernels for GPUs too.

    Raises:
      Unavailable: there is no C++ compiler; or there is a GPU, and no kernel for it can be built.
      RuntimeError: the compiler fails.
    """
    cuda = (shutil.which("nvcc") if tf.test.is_built_with_cuda() else None) or ""

    def make(output: Path, cxx: str, headers: list[str], linked: list[str]) -> None:
        why = build(output, cxx, cuda, headers, linked)
        if why:
            output.with_suffix(".txt").write_text(why)

    path = library(tf, "ops", SOURCES, make, (cuda, OPTIONS, CUDA_OPTIONS))
    lacking = path.with_suffix(".txt")
    if lacking.exists() and tf.config.list_logical_devices("GPU"):
        raise Unavailable(lacking.read_text())
    return str(path)


def library(tf: Any, name: str, sources: Sequence[Path], make: Callable[..., None], options: Sequence[Any]) -> Path:
    """The path of a library that `make(path, cxx, headers, linked)` makes of the sources, with what lies beside.

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


def build(library: Path, cxx: str, cuda: str, headers: list[str], linked: list[str]) -> str:
    """Builds the library; returns why it has no kernels for GPUs, or nothing.

    Raises:
      RuntimeError: the C++ compiler fails.
    """
    kernels, cuda_kernels = map(str, SOURCES)
    if cuda:
        objects = [str(library.with_name(name)) for name in ("kernels.o", "cuda_kernels.o")]
        try:
            run([cuda, *CUDA_OPTIONS, "-ccbin", cxx, "-c", cuda_kernels, "-o", objects[1]])
            run([cxx, *OPTIONS, "-DWITH_CUDA", *headers, "-c", kernels, "-o", objects[0]])
            run([cuda, "-shared", "--cudart", "static", "-ccbin", cxx, *objects, *linked, "-o", str(library)])
        except RuntimeError as error:
            why = f"no GPU kernel could be built: {error}"
        else:
            return ""
    else:
        why = "no GPU kernel can be built: there is no nvcc on the PATH, or TensorFlow is not built for CUDA"
    run([cxx, *OPTIONS, *headers, "-shared", kernels, *linked, "-o", str(library)])
    return why


def run(command: list[str]) -> None:
    """Runs a compiler.

    Raises:
      RuntimeError: it fails or takes too long; the message has its first errors.
    """
    if why := compiler.failure(command):
        raise RuntimeError(why)
