"""Build: this folder's ops as a library, compiled against the TensorFlow that is installed; nothing is downloaded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tf_opdiff.harness.spec.spec import Unavailable
from tf_opdiff.suites.forms.programs.compiled_library import OPTIONS, library, run

HERE = Path(__file__).parent
SOURCES = tuple(HERE / name for name in ("skip_cube.cc", "skip_cube.cu.cc"))
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
