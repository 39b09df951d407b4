"""XLA registers its kernels at its first use: before it, every op seems to lack a kernel."""

SUITE = "tf_opdiff.harness.tests.planted_servers.planted_first_xla"


def test_a_failure_before_xlas_first_program_is_a_finding_not_a_missing_kernel(run_pytest):
    outcome = run_pytest("--device", "cpu", "--mode", "xla", "--repro=none", suites=SUITE)
    failing = [r for r in outcome.merged.records if r.spec == "aa-fails-first" and r.against == "numpy"]
    assert {r.verdict for r in failing} == {"mismatch"}
