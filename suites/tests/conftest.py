"""Fixtures of the tests of suites: those of the harness's tests that start a device server."""

from tf_opdiff.harness.tests.conftest import run_module  # noqa: F401  pytest finds it here
