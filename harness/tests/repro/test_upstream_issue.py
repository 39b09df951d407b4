"""The text of an upstream issue: short, with a program as a person writes it, its output, its cause and its setting."""

import re
from dataclasses import replace

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.folding import folded
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.minimal import minimal_of
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.tests.forked_python import forked_python

SPECS = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_switches").specs


def discrepancy(name, mode):
    spec = SPECS[name]
    case = Case(spec, "float32", next(iter(spec.recipes)))
    return Discrepancy(case, Plan(Device("cpu"), mode), "output[0]", "numpy", "value", case.inputs())


_TWO_INPUTS = """names = ('a', 'b')

rest = {}

def program(tf, *xs):
    y = tf.raw_ops.Add(**dict(zip(names, xs, strict=True)), **rest)
    return y if None is None else y[None]
"""


@pytest.mark.parametrize(
    ("definitions", "names", "text"),
    [
        (
            "name = 'x'\n\nop = 'Sqrt'\n\ndef program(tf, x):\n    return getattr(tf.raw_ops, op)(**{name: x})",
            ["x"],
            "def program(x):\n    return tf.raw_ops.Sqrt(x=x)",
        ),
        (
            _TWO_INPUTS,
            ["x", "y"],
            "def program(x, y):\n    return tf.raw_ops.Add(a=x, b=y)",
        ),
        (
            "scale = 2.0\n\ndef twice(tf, x):\n    return x * scale\n\ndef program(tf, x):\n    return twice(tf, x)",
            ["x"],
            "scale = 2.0\n\n\ndef twice(tf, x):\n    return x * scale\n\n\ndef program(x):\n    return twice(tf, x)",
        ),
    ],
    ids=["constants", "several inputs", "a constant that another function needs"],
)
def test_constants_are_put_where_they_are_used(definitions, names, text):
    assert folded(definitions, "program", names) == text


def test_a_minimal_program_prints_both_results_and_the_expected_one(tmp_path):
    path = tmp_path / "minimal.py"
    path.write_text(minimal_of(discrepancy("log-of-exp", "xla")))
    process = forked_python(str(path), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    labels = re.split(r"^(eager|jit_compile=True|expected):", process.stdout, flags=re.MULTILINE)[1:]
    results = dict(zip(labels[::2], labels[1::2], strict=True))
    assert {label: "inf" in shown for label, shown in results.items()} == {
        "eager": True,
        "jit_compile=True": False,
        "expected": True,
    }


def test_a_v1_graph_has_no_minimal_program():
    with pytest.raises(Unwritable, match="needs a setting of its own"):
        minimal_of(discrepancy("two-constants", "graph"))


def test_inputs_that_the_reference_refuses_have_no_minimal_program():
    whole = discrepancy("two-constants", "function")
    refusing = replace(whole.case.spec, reference=lambda x: x.transpose(0, 2, 1))
    with pytest.raises(Unwritable, match=r"reference does not take these inputs: .*axes don't match array"):
        minimal_of(replace(whole, case=replace(whole.case, spec=refusing)))


def test_an_issue_has_at_most_forty_lines_with_its_cause_and_its_setting(tmp_path):
    file = tmp_path / "issue.md"
    case = ["compose-inverses-float32-numbers", "--plan", "cpu/xla"]
    assert main(["repro", *case, "--issue", str(file)]) == 1
    text = file.read_text()
    assert len(text.splitlines()) <= 40
    assert text.startswith("# Under XLA, `tf.math.log` of `tf.exp` returns its argument\n")
    assert "XLA_FLAGS=--xla_disable_hlo_passes=algsimp" in text
    assert "algebraic_simplifier.cc" in text
    assert "def program(x):\n    return tf.math.log(tf.exp(x))" in text
    assert "eager: [-inf]\njit_compile=True: [-1431.3091]\nexpected: [-inf]" in text
