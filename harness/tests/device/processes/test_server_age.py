"""A device server that has used up most of what the kernel grants it is replaced before it crashes."""


def test_a_server_with_few_mappings_left_is_replaced(run_pytest):
    outcome = run_pytest("-n", "0", "--repro", "none", suites="tf_opdiff.harness.tests.planted_servers.planted_wear")
    assert outcome.status == 0, outcome.output
    assert {r.spec for r in outcome.merged.records} == {"first", "between", "second"}
