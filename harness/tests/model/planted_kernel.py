"""Planted kernel: a fault in a kernel of TensorFlow, for one op type and output shape, on the second CPU alone.

A library is loaded before TensorFlow's and takes the place of the method that runs all kernels of a CPU. It runs the
kernel, and alters its output. The analysis and the program under test are as they are.
"""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tf_opdiff.harness.device import fork_server
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.system import compiler

#: What a kernel can do to its output: one element 1 % off, the last eighth zero, all elements 0.1 % off, one NaN.
FAULTS = ("one", "tail", "scale", "nan")
#: The plan with the fault. The variant is a flag of XLA, which eager mode ignores; because of it, the processes of this
#: device are no forks, and load the library.
FAULTY = Plan(Device("cpu", 1, ("noexcess",)), "eager")


@contextmanager
def planted(kind: str, shape: Sequence[int], fault: str) -> Iterator[Plan]:
    """In this context, kernels of an op type have a fault under the plan that it gives, where their output has a shape.

    Raises:
      OSError: there is no C++ compiler.
    """
    text = f"{kind} {'x'.join(map(str, shape)) or '-'} {fault} {FAULTY.device.tf_name}"
    before = os.environ.get("LD_PRELOAD")
    libraries = " ".join(filter(None, [str(_library()), before]))
    with fork_server.environment({"LD_PRELOAD": libraries, "PLANTED_KERNEL": text}):
        yield FAULTY


def _library() -> Path:
    tensorflow = importlib.util.find_spec("tensorflow")
    assert tensorflow is not None
    assert tensorflow.submodule_search_locations
    headers = Path(tensorflow.submodule_search_locations[0], "include")
    options = ("-O1", "-std=c++17", "-w", "-isystem", str(headers), "-Wl,--no-as-needed", "-lstdc++")
    return compiler.library(Path(__file__).with_suffix(".cc"), *options)
