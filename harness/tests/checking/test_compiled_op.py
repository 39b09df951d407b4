"""`check` runs a compiled op of one's own, with a gradient in Python, and sees a wrong result of its kernel."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff import Differs, check, uniform
from tf_opdiff.harness.system import compiler

#: XLA has no kernel of the op.
MODES = ["eager", "function", "graph"]


@pytest.fixture(scope="module")
def clipped_cube():
    """clipped_cube(x), whose op each process loads by itself."""
    folder = Path(importlib.util.find_spec("tensorflow").submodule_search_locations[0])
    options = ["-O1", "-std=c++17", "-w", "-isystem", str(folder / "include"), f"-L{folder}"]
    options += ["-l:libtensorflow_framework.so.2", "-lstdc++"]
    path = str(compiler.library(Path(__file__).with_name("clipped_cube.cc"), *options))

    def clipped_cube(x):
        import tensorflow as tf

        raw = tf.load_op_library(path)

        @tf.custom_gradient
        def cube(y):
            return raw.opdiff_clipped_cube(x=y), lambda g: 3 * y * y * g

        return cube(x)

    return clipped_cube


def test_a_compiled_op_and_its_gradient_are_compared_with_a_reference(clipped_cube):
    checked = check(
        clipped_cube,
        uniform(-3, 2),
        reference=lambda x: x**3,
        vjp=lambda g, x: 3 * x**2 * g,
        modes=MODES,
        devices=["cpu"],
    )
    assert set(checked.plans) == {f"cpu/{mode}" for mode in MODES}
    assert {record.quantity for record in checked.records} == {"output[0]", "grad[0]"}


def test_a_wrong_result_of_its_kernel_is_seen_in_every_mode(clipped_cube):
    with pytest.raises(Differs, match=r"output\[0\]: value") as differs:
        check(clipped_cube, np.float32([1, 3]), reference=lambda x: x**3, gradient=False, modes=MODES, devices=["cpu"])
    assert all(f"cpu/{mode}" in str(differs.value) for mode in MODES)
