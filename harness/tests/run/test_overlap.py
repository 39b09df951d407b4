"""The worker computes the next case while the device server runs the last one."""


def test_the_inputs_of_the_next_case_are_computed_while_the_server_runs_the_last_one(run_module):
    records = run_module("tf_opdiff.harness.tests.planted_runs.planted_overlap", modes=("eager",))
    values = {(r.case, r.verdict) for r in records if r.against == "numpy"}
    assert values == {(f"waits-for-the-next-inputs-int32-{recipe}", "match") for recipe in ("first", "second")}
