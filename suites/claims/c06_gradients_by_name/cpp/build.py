"""Build: the op of this folder as a library, for CPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tf_opdiff.suites.forms.programs.compiled_library import built

SOURCE = Path(__file__).with_name("cube_not_differentiable.cc")


def compiled_not_differentiable(tf: Any) -> str:
    """The path of the library, which is built where it is not in the cache.

    Raises:
      Unavailable: there is no C++ compiler.
      RuntimeError: the compiler fails.
    """
    return built(tf, SOURCE)
