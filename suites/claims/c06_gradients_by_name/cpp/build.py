"""Build: the op of this folder as a library, for CPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tf_opdiff.suites.claims.c06_compiled_op.cpp.build import OPTIONS, library, run

SOURCE = Path(__file__).with_name("cube_not_differentiable.cc")


def compiled_not_differentiable(tf: Any) -> str:
    """The path of the library, which is built where it is not in the cache; see `c06_compiled_op.cpp.build`.

    Raises:
      Unavailable: there is no C++ compiler.
      RuntimeError: the compiler fails.
    """

    def make(output: Path, cxx: str, headers: list[str], linked: list[str]) -> None:
        run([cxx, *OPTIONS, *headers, "-shared", str(SOURCE), *linked, "-o", str(output)])

    return str(library(tf, "not-differentiable", (SOURCE,), make, OPTIONS))
