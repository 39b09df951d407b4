"""A recording has every op of an eager run, in order, with its values, its layer and the user's line."""

from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.tests.model.conftest import INPUTS
from tf_opdiff.model.recordings.values import ValueReader, write_values


def line_of(text):
    """The number of the line of the planted programs that holds a text."""
    lines = (Path(__file__).parent / "planted_programs.py").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_ops_of_forward_and_gradient_stand_in_execution_order(analysis_of):
    with analysis_of("masked_root") as analysis:
        recording = analysis.recording
    types = [op.type for op in recording.ops]
    assert types.index("Sqrt") < types.index("SelectV2") < types.index("SqrtGrad")
    gradient = recording.ops[types.index("SqrtGrad")]
    assert recording.ops[gradient.gradient_of].type == "Sqrt"
    assert gradient.place.line == line_of("tf.sqrt(x)"), "a gradient has the place of its forward op"
    assert [op.number for op in recording.ops] == list(range(len(types)))


def test_values_are_those_of_the_run(analysis_of):
    with analysis_of("clean") as analysis:
        recording, read = analysis.recording, ValueReader(analysis.recording.file)
        tanh = next(op for op in recording.ops if op.type == "Tanh")
        (x,), (y,) = ([read(recording.values[v]) for v in numbers] for numbers in (tanh.inputs, tanh.outputs))
    assert np.array_equal(x, INPUTS["x"])
    assert np.allclose(y, np.tanh(x))
    product = next(op for op in recording.ops if op.type == "Mul")
    assert recording.producers[product.inputs[0]] == tanh.number


def test_a_step_of_training_has_layers_gradients_and_updates_of_variables(analysis_of):
    rng = np.random.default_rng(0)
    inputs = {"x": rng.normal(size=(5, 4)).astype("f4"), "y": np.ones((5, 1), "f4")}
    with analysis_of("network", **inputs) as analysis:
        recording, read = analysis.recording, ValueReader(analysis.recording.file)
        products = [op for op in recording.ops if op.type == "MatMul"]
        forward = [op.place.layer for op in products if op.gradient_of is None]
        backward = {op.place.layer for op in products if op.gradient_of is not None}
        updates = [u for op in recording.ops for u in op.updates]
        changed = [u for u in updates if not np.array_equal(*(read(recording.values[n]) for n in (u.before, u.after)))]
    assert forward == ["network/inner/first", "network/last"]
    assert backward == {"network/inner/first", "network/last"}
    assert len(changed) >= 4, "Adam changes each of four weights"
    assert [op.number for op in recording.ops] == list(range(len(recording.ops)))
    assert recording.seconds > 0 < recording.plain_seconds


@pytest.mark.parametrize(
    "array",
    [np.float32([[1, 2]]), np.array(3, np.int64), np.array([b"a", b"bcd"], object), np.zeros((0, 2)), np.array(True)],
    ids=["floats", "scalar", "texts", "empty", "boolean"],
)
def test_an_array_survives_the_file(tmp_path, array):
    stored = write_values(tmp_path / "v", {"before": np.arange(7, dtype=np.int8), "it": array})
    back = ValueReader(tmp_path / "v")(stored["it"])
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert (back == array).all()
