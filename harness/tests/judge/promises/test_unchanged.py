"""A function of a suite that changes pytest's process is a fault of its case, and decides nothing about the next."""

import builtins
import os
import sys

import mpmath
import numpy as np
import pytest

from tf_opdiff.harness.system.process_state import SHARED
from tf_opdiff.harness.tests.conftest import module_runner
from tf_opdiff.harness.tests.planted_runs.planted_meddlers import CHANGES


def _process():
    """The state of this process, as far as the planted functions change it; pytest itself changes one variable."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    values = {name: setting.read() for name, setting in SHARED.items() if name != "environment variables"}
    functions = np.floor, np.trunc, np.linalg.det, builtins.round, mpmath.mp.prec, sys.getrecursionlimit()
    return values, variables, functions


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The records of the planted specs against NumPy, by spec; the process before and after."""
    before = _process()
    records = module_runner(tmp_path_factory)("tf_opdiff.harness.tests.planted_runs.planted_meddlers", modes=("eager",))
    return {r.spec: r for r in records if r.against == "numpy"}, before, _process()


@pytest.mark.parametrize("name", CHANGES)
def test_a_reference_that_changes_the_process_is_a_fault_of_the_suite(run, name):
    record = run[0][f"reference-{name}"]
    assert (record.verdict, record.kind) == ("error", "reference")
    assert record.detail.startswith(f"the reference of {record.case} changed the process: "), record.detail
    assert CHANGES[name][1] in record.detail


@pytest.mark.parametrize(("spec", "words"), [("recipe", "recipe"), ("vjp", "VJP"), ("upstreams", "upstreams")])
def test_so_is_any_other_function_that_does(run, spec, words):
    record = run[0][spec]
    assert record.verdict == "error"
    assert record.detail.startswith(f"the {words} of {record.case} changed the process: umask: was "), record.detail


def test_the_next_case_runs_in_the_process_as_it_was(run):
    records, before, after = run
    assert records["neighbour"].verdict == "match"
    assert after == before
