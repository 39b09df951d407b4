"""Fixtures of the tests of suites. pytest imports this file in each run, so it imports nothing that takes time."""

import pytest


@pytest.fixture(scope="module")
def run_module(tmp_path_factory):
    """Runs a module of specs, as in the harness's tests; it starts a device server."""
    from tf_opdiff.harness.tests.conftest import module_runner

    return module_runner(tmp_path_factory)
