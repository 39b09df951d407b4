"""Forward mode of a case does not depend on the cases that ran before it in the same device server."""


def test_forward_mode_knows_the_shapes_of_the_last_of_many_cases(run_module):
    records = run_module("tf_opdiff.harness.tests.planted_specs.planted_forward", modes=("eager",))
    assert {r.quantity for r in records} == {"output[0]", "jvp[0]"}
    assert {(r.case, r.got) for r in records if r.verdict != "match"} == set()
