"""A short program has one call, the numbers that it needs, and at most `LINES` lines."""

import os
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.script import script_of
from tf_opdiff.harness.repro.script_runs.run_scripts import run_scripts
from tf_opdiff.harness.repro.short_programs.cuts import cut, of_copies, of_one_element
from tf_opdiff.harness.repro.short_programs.short_program import LINES, short_program
from tf_opdiff.harness.repro.short_programs.traced_call import symbols_in, traced
from tf_opdiff.harness.repro.trace_writer import TraceWriter
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Raises

RIGHT = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted").specs["right"]


def text(program, inputs="xyz", outputs=1, **keywords):
    """The expressions of a traced program, after the assignments of subexpressions that occur more than once."""
    results = traced(program, {name: np.zeros((2, 3)) for name in inputs}, keywords, outputs)
    writer = TraceWriter()
    return "; ".join([*writer.statements(results), *map(writer.expression, results)])


def _calling(op, names, **attrs):
    return lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attrs)


def _repeated(tf, x):
    y = tf.exp(x)
    return y / (y + 1)


def _several(tf, x):
    return [function(part) for function, part in zip((tf.sin, tf.cos), tf.split(x, 2), strict=True)]


@pytest.mark.parametrize(
    ("program", "inputs", "outputs", "expected"),
    [
        (_calling("Floor", ("x",)), "x", 1, "tf.raw_ops.Floor(x=x)"),
        (partial(_calling("Pad", ("input", "paddings"), T=[1])), "xy", 1, "tf.raw_ops.Pad(input=x, paddings=y, T=[1])"),
        (lambda tf, x: tf.map_fn(lambda row: row[1:, None], x), "x", 1, "tf.map_fn((lambda row: row[1:, None]), x)"),
        (lambda tf, x: tf.ones(x.shape[-1]) @ -x, "x", 1, "(tf.ones(3) @ (-x))"),
        (lambda tf, x: np.float32(2) * x, "x", 1, "(np.array(2., 'float32') * x)"),
        (_repeated, "x", 1, "v0 = tf.exp(x); (v0 / (v0 + 1))"),
        (_several, "x", 2, "v0 = tf.split(x, 2); tf.sin(v0[0]); tf.cos(v0[1])"),
    ],
)
def test_a_program_is_written_as_the_calls_that_it_makes(program, inputs, outputs, expected):
    assert text(program, inputs, outputs) == expected


UNTRACED = {
    "branches": lambda tf, x: x if x > 0 else -x,
    "converts": lambda tf, x: np.asarray(x),
    "raises": lambda tf, x: 1 / 0,
    "runs in Python": lambda tf, x: tf.numpy_function(lambda value: os.abort(), [x], x.dtype),
    "ends the process": lambda tf, x: os._exit(0),
}


@pytest.mark.parametrize("program", UNTRACED.values(), ids=UNTRACED)
def test_a_program_that_looks_at_its_tensors_is_not_traced(program):
    with pytest.raises(Unwritable, match="can't be traced"):
        text(program, "x")


def test_a_result_names_the_inputs_that_it_uses():
    _, second = traced(lambda tf, x, y: (x, tf.sin(y)), {"x": np.zeros(1), "y": np.zeros(1)}, {}, 2)
    assert {part for s in symbols_in(second) for part in s.parts if isinstance(part, str)} >= {"y"}
    assert "x" not in {part for s in symbols_in(second) for part in s.parts if isinstance(part, str)}


def discrepancy(spec=RIGHT, mode="eager", quantity="output[0]", **changes):
    case = Case(spec, "float32", "plain")
    whole = Discrepancy(case, Plan(Device("cpu"), mode), quantity, "numpy", "value", case.inputs(), index=(3,))
    return replace(whole, short=True, **changes)


@pytest.mark.parametrize("mode", ["eager", "function", "xla", "graph"])
@pytest.mark.parametrize("quantity", ["output[0]", "grad[0]"])
def test_a_short_program_has_at_most_thirty_lines(mode, quantity):
    program = short_program(of_one_element(discrepancy(mode=mode, quantity=quantity)), "2.21.0")
    assert len(program.splitlines()) <= LINES
    assert "base64" not in program and "eval(" not in program
    assert "tf.floor(x)" in program


def test_a_case_of_a_gradient_is_cut_with_its_upstreams():
    whole = discrepancy(quantity="grad[0]")
    one = of_one_element(whole)
    assert [x.tolist() for x in one.inputs] == [[whole.inputs[0][3]]]
    assert [g.shape for g in one.upstreams] == [(1,)]
    copies = of_copies(whole)
    assert copies.index == whole.index and (copies.inputs[0] == one.inputs[0]).all()
    assert copies.inputs[0].shape == copies.upstreams[0].shape == whole.inputs[0].shape


def _batches(rows):
    """A spec of matrix products of a batch and one matrix."""
    recipe = lambda draw, dtype: (draw.uniform(rows, 3).astype(dtype), draw.uniform(3, 4).astype(dtype))  # noqa: E731
    return replace(
        RIGHT,
        program=lambda tf, x, y: tf.matmul(x, y),
        reference=lambda x, y: x @ y,
        derivatives=replace(RIGHT.derivatives, vjp=None),
        recipes={"plain": recipe},
    )


def test_a_case_is_cut_to_the_row_and_the_column_that_its_element_depends_on():
    whole = discrepancy(_batches(5), index=(2, 1))
    smaller = cut(whole)
    assert [x.shape for x in smaller.inputs] == [(1, 3), (3, 1)]
    assert smaller.index == (0, 0)
    assert smaller.inputs[0].tolist() == whole.inputs[0][2:3].tolist()


def test_an_axis_on_which_the_element_depends_is_not_cut():
    spec = replace(_batches(3), reference=lambda x, y: np.cumsum(x, 0) @ y)  # each row depends on those before it
    smaller = cut(discrepancy(spec, index=(2, 1)))
    assert [x.shape for x in smaller.inputs] == [(3, 3), (3, 1)]


def test_a_short_program_says_whether_the_fault_is_there(tmp_path):
    spec = replace(RIGHT, program=lambda tf, x: tf.math.ceil(x) + 0.1)  # its result has more digits in float64
    program = short_program(of_one_element(discrepancy(spec)), "2.21.0")
    mended = program.replace("tf.math.ceil(x) + 0.1", "tf.floor(x)")
    assert mended != program
    paths = [tmp_path / name for name in ("there.py", "mended.py")]
    for path, written in zip(paths, (program, mended), strict=True):
        path.write_text(written)
    ended = {path: (how, output) for path, how, output in run_scripts(dict.fromkeys(paths, Device("cpu")))}
    assert [ended[path][0] for path in paths] == ["EXIT 1", "EXIT 0"], ended
    number = short_number(program)
    assert ended[paths[0]][1].splitlines()[-1] == f"at [0]: {np.float32(np.ceil(number) + 0.1)!s}, {np.floor(number)}"


def short_number(program):
    """The one number that a short program has as its input."""
    (text,) = re.findall(r"^x = np.array\(\[(.*)\], 'float32'\)$", program, re.MULTILINE)
    return float(text)


def test_an_error_is_caught_by_its_class_and_a_value_in_its_place_is_told():
    raises = Raises("INVALID_ARGUMENT")
    spec = replace(RIGHT, reference=lambda x: raises, derivatives=replace(RIGHT.derivatives, vjp=None))
    program = short_program(discrepancy(spec, kind="status", index=None), "2.21.0")
    assert 'sys.exit(type(got).__name__ != "InvalidArgumentError")' in program


def test_a_program_that_evaluates_texts_is_written_as_their_calls():
    spec = replace(RIGHT, program=lambda tf, x: eval("tf.floor(x)", {"tf": tf, "x": x}))
    program = script_of(replace(discrepancy(spec), short=False), "2.21.0")
    assert "eval(" not in program and "def program(tf, x0):\n    return (\n        tf.floor(x0),\n    )" in program
