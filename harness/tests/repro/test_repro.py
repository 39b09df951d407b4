"""`python -m harness repro`: what it prints of one case, and what its exit status says."""

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.run.one_case import show
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.patience import PATIENCE

PLAN = Plan(Device("cpu"), "eager")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("by-length", "output[0]: position"),
        ("drifts", "output[0]: nondeterministic"),
        ("writes-to-its-input", "output[0]: input_mutated"),
    ],
)
def test_what_comes_differently_again_is_printed_and_fails(run_spec, catalog, capsys, spec, says):
    run_spec(spec, modes=("eager",))
    server = run_spec.servers[PLAN.device, PATIENCE, 0]
    item = next(item for item in catalog.items if item.spec.name == spec)
    assert show(item, item.cases[0], [PLAN], {PLAN.device: server}) == 1
    lines = capsys.readouterr().out.splitlines()
    (at,) = (i for i, line in enumerate(lines) if line.strip().startswith(says))
    named = "input[0]" if spec == "writes-to-its-input" else "output[0]"
    assert lines[at + 1].strip().startswith(f"then {named} value float32[")


def test_what_is_right_and_the_same_again_does_not_fail(run_spec, catalog, capsys):
    run_spec("sound", modes=("eager",))
    server = run_spec.servers[PLAN.device, PATIENCE, 0]
    item = next(item for item in catalog.items if item.spec.name == "sound")
    assert show(item, item.cases[0], [PLAN], {PLAN.device: server}) == 0
    assert "then" not in capsys.readouterr().out


def test_a_device_that_is_absent_is_wrong_usage_in_one_line(capsys):
    assert main(["repro", "floor-float32-edges", "--plan", "cpu/eager", "--plan", "gpu:7/xla"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("python -m harness repro: device gpu:7 is not there; TensorFlow lists cpu")
    assert len(said.err.splitlines()) == 1
