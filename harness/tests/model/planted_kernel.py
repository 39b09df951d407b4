"""Planted kernel: a fault in a kernel of TensorFlow, for one op type and output shape, on the second CPU alone.

A library is loaded before TensorFlow's and takes the place of the method that runs all kernels of a CPU. It runs the
kernel, and alters its output. The analysis and the program under test are as they are.
"""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.system import compiler

#: What a kernel can do to its output: one element 1 % off, the last eighth zero, all elements 0.1 % off, one NaN.
FAULTS = ("one", "tail", "scale", "nan")


@contextmanager
def planting(file: Path) -> Iterator[None]:
    """New processes that start in this context have the fault that `plant` writes to a file; forks of others do not.

    Raises:
      OSError: there is no C++ compiler.
    """
    libraries = " ".join(filter(None, [str(_library()), os.environ.get("LD_PRELOAD")]))
    with fork_server.environment({"LD_PRELOAD": libraries, "PLANTED_KERNEL": str(file)}):
        yield


def plant(file: Path, kind: str, shape: Sequence[int], fault: str) -> None:
    """Gives kernels of an op type a fault where their output has a shape; processes read it before their first op."""
    file.write_text(f"{kind} {'x'.join(map(str, shape)) or '-'} {fault}")


def _library() -> Path:
    tensorflow = importlib.util.find_spec("tensorflow")
    assert tensorflow is not None
    assert tensorflow.submodule_search_locations
    headers = Path(tensorflow.submodule_search_locations[0], "include")
    options = ("-O1", "-std=c++17", "-w", "-isystem", str(headers), "-Wl,--no-as-needed", "-lstdc++")
    return compiler.library(Path(__file__).with_suffix(".cc"), *options)
