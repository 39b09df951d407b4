"""Programs about control flow are red without their control flow, although their values stay right."""

from collections import defaultdict

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.suites.programs.loops import raw_loops
from tf_opdiff.suites.tests.claims import planted_without_control_flow as planted


def test_a_program_without_its_control_flow_is_red(run_module):
    records = run_module("tf_opdiff.suites.tests.claims.planted_without_control_flow", ("eager", "graph"))
    ran = {(r.spec, r.mode) for r in records}
    assert ran == {(s.name, m) for s in planted.SPECS for m in s.modes if m in ("eager", "graph")}
    assert {s.name.partition("--")[0].removesuffix("-v1") for s in planted.SPECS} == set(planted.NAMES)
    assert {(r.verdict, r.kind) for r in records if r.against == "numpy"} == {("error", "status")}
    reasons = ("the program did not call tf.", "the executed graph has no ")
    assert [r.detail for r in records if not any(reason in r.detail for reason in reasons)] == []


def test_every_broken_raw_loop_runs_in_every_mode():
    modes = defaultdict(set)
    for spec in raw_loops.SPECS:
        if spec.ops == "StatelessWhile":
            modes[spec.name.removesuffix("-xla")].update(spec.modes)
    assert {name: ran for name, ran in modes.items() if ran != set(MODES)} == {}
