"""A check of a gradient override says where TensorFlow applies it; a lost or a wrong override turns red."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.checking.overrides.request import OTHER, PLACE_NAMES, OverrideAnswer, OverrideResult
from tf_opdiff.checking.overrides.table import text
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.suites.forms.overrides.differences import along_ones, second_derivative

USER = Path(__file__).with_name("user")
MECHANISMS = ("map", "custom_gradient", "py_func", "stop_gradient", "recompute_grad", "keras_layer")
#: The places in which a map marks an op of a graph that is differentiated.
SEEN = {"called": MODES, **dict.fromkeys(("cond", "loop"), MODES[1:]), "cond-v1": ("graph",), "loop-v1": ("graph",)}
SEEN |= {"plain": ("graph",), "second-order": ("graph",), "nested": MODES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the user's modules, outside of this repository."""
    path = tmp_path_factory.mktemp("user")
    for file in USER.glob("*.py"):
        shutil.copy(file, path)
    return path


@pytest.fixture(scope="module")
def reported(folder):
    """name → (place, mode) → (state, proof, whether it fails), or the message of an error; all from one process."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "report_states.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    checks = json.loads(done.stdout)
    return {
        name: found if isinstance(found, str) else {(place, mode): tuple(rest) for place, mode, *rest in found}
        for name, found in checks.items()
    }


def states(found):
    return {cell: state for cell, (state, _, _) in found.items()}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_place_and_mode_has_a_state_and_a_proof(reported, mechanism):
    found = reported[f"by_{mechanism}"]
    assert set(found) == {(place, mode) for place in PLACE_NAMES for mode in MODES}
    assert all(proof for _, proof, _ in found.values())
    assert all(fails == (state not in (APPLIED, INEXPRESSIBLE)) for state, _, fails in found.values())


def test_a_map_is_applied_where_a_graph_is_differentiated_and_ignored_elsewhere(reported):
    found = states(reported["by_map"])
    for (place, mode), state in found.items():
        if state != INEXPRESSIBLE:
            assert state == (APPLIED if mode in SEEN.get(place, ()) else IGNORED), (place, mode)


def test_a_gradient_that_a_module_registers_is_known_in_the_other_process(reported):
    """The process of the device never imports the user's module."""
    state, proof, _ = reported["by_map"]["plain", "graph"]
    assert state == APPLIED
    assert "all 5 elements of grad[0] are those of the override" in proof and "and None without it" in proof


def test_a_custom_gradient_is_ignored_by_forward_mode_alone(reported):
    found = states(reported["by_custom_gradient"])
    wrong = {cell for cell, state in found.items() if state not in (APPLIED, INEXPRESSIBLE)}
    assert wrong == {("forward-mode", mode) for mode in MODES[1:]}


def test_a_python_function_is_refused_by_xla_with_its_message(reported):
    state, proof, _ = reported["by_py_func"]["plain", "xla"]
    assert state == REFUSED and "unsupported operations" in proof
    assert reported["by_py_func"]["plain", "graph"][0] == APPLIED


def test_recompute_grad_is_refused_in_forward_mode(reported):
    state, proof, _ = reported["by_recompute_grad"]["forward-mode", "eager"]
    assert state == REFUSED and "recompute_grad tried to transpose grad" in proof


@pytest.mark.parametrize(
    ("name", "state"),
    [("lost", IGNORED), ("chosen, lost", IGNORED), ("other factor", OTHER), ("one element", OTHER)],
)
def test_an_override_that_is_lost_or_wrong_is_red_everywhere(reported, name, state):
    assert set(states(reported[name]).values()) == {state}
    assert all(fails for _, _, fails in reported[name].values())


def test_without_the_bare_callable_another_gradient_is_not_called_ignored(reported):
    assert set(states(reported["lost, with its own gradient"]).values()) == {OTHER}


def test_the_proof_of_an_ignored_override_is_the_gradient_of_the_bare_callable(reported):
    _, proof, _ = reported["chosen, lost"]["plain", "graph"]
    assert proof.startswith("grad[0]") and proof.endswith("it is the same without the override")


def test_inputs_without_a_gradient_follow_those_of_floats(reported):
    assert states(reported["chosen"])["plain", "xla"] == APPLIED


def test_a_rule_that_mixes_elements_has_its_second_derivative(reported):
    assert set(states(reported["reversed"]).values()) == {APPLIED}


def test_what_cannot_be_expressed_says_why(reported):
    assert "float32" in reported["float64"]["fitted", "eager"][1]
    assert "variables" in reported["variable"]["plain", "graph"][1]
    assert states(reported["variable"])["plain", "xla"] == APPLIED


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("two outputs", "expected one output of the shape and dtype of the first input, float32[5], got float32[5], "),
        ("shorter", "expected one output of the shape and dtype of the first input, float32[5], got float32[4]"),
        ("broken", "broken fails in every mode: AttributeError"),
        ("rule with TensorFlow", "the override's gradient raises ImportError: a reference may not import tensorflow"),
        ("rule of zeros", "the override's gradient is zero for these inputs"),
        ("rule too short", "expected shape (5,) for input 0, got (4,)"),
        ("rule of two", "expected a gradient for each of 1 inputs, got 2"),
        ("no difference", "the callable without the override has the gradient of the override"),
        ("integers first", "expected inputs that begin with floats of one dtype, got bool, float32, float32"),
    ],
)
def test_a_check_that_cannot_be_made_says_why_in_one_line(reported, name, says):
    message = reported[name]
    assert isinstance(message, str) and says in message and "\n" not in message


def test_an_override_of_the_suites_is_as_they_expect(reported):
    found = reported["floor-map"]
    assert set(states(found)) == set(states(reported["by_map"]))
    assert {state for state, _, _ in found.values()} == {APPLIED, IGNORED, INEXPRESSIBLE}
    assert not any(fails for _, _, fails in found.values())


def run(folder, *words):
    command = [sys.executable, "-m", "tf_opdiff", "check", *words, "--device", "cpu"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


OWN = ("my_overrides:by_map", "--override", "my_overrides:rule", "--without", "my_overrides:plain")


def test_the_command_ends_with_0_where_the_override_is_applied_and_with_1_elsewhere(folder):
    applied = run(folder, *OWN, "--place", "plain", "--mode", "graph")
    assert applied.returncode == 0, applied.stderr
    assert "applied by itself (cpu/graph): all 67 elements" in applied.stdout
    ignored = run(folder, *OWN, "--place", "plain", "--mode", "function")
    assert ignored.returncode == 1
    assert "ignored by itself (cpu/function): grad[0]" in ignored.stdout
    assert "rerun: tf-opdiff check my_overrides:by_map --override my_overrides:rule" in ignored.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["flor-map"], "override 'flor-map': expected MODULE:NAME, or OP-MECHANISM with an op of select, "),
        (["floor-map", "--input=-1:1"], "'floor-map': an override of the suites has its inputs; expected no --input"),
        (["my_overrides:by_map", "--without", "my_overrides:plain"], "--without: expected --override too"),
        (["my_overrides:by_map", "--place", "cond"], "--place: expected --override too"),
        ([*OWN, "--vjp", "my_overrides:rule"], "expected --override or --vjp, got both"),
        ([*OWN, "--place", "elsewhere"], "argument --place: invalid choice: 'elsewhere'"),
    ],
)
def test_wrong_usage_of_the_command_is_one_line(folder, words, says):
    done = run(folder, *words)
    assert done.returncode == 4
    last = done.stderr.strip().splitlines()[-1]
    assert says in last and "Traceback" not in done.stderr


def test_a_state_that_the_suites_do_not_expect_is_marked_and_fails():
    result = OverrideResult("plain", "by itself", "cpu", "graph", IGNORED, "grad[0]: None", expected=APPLIED)
    assert result.failing
    table = text(OverrideAnswer("floor", (result,)))
    assert "ignored !" in table and "Expected: applied" in table


def test_derivatives_by_differences_are_those_of_calculus():
    x, y, u, v = (np.linspace(a, b, 5) for a, b in ((-2, 3), (1, 2), (0.5, 1.5), (2, 1)))
    rule = lambda g, x, y: (g * x**3 * y, g[::-1] * np.sin(y))  # noqa: E731
    expected = x**3 * y + np.sin(y)[::-1]
    assert along_ones(rule, (x, y)) == pytest.approx(expected)
    to_x, to_y = second_derivative(rule, (x, y), (u, v))
    assert to_x == pytest.approx(u * 3 * x**2 * y, rel=1e-8)
    assert to_y == pytest.approx(u * x**3 + v * np.cos(y), rel=1e-8)
