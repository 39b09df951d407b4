"""What the benchmarks measure."""

from importlib import import_module

import numpy as np
import pytest

from bench.__main__ import NAMES
from bench.measurements.reports import measured


def test_the_memory_of_a_command_is_not_that_of_the_process_that_measures_it():
    large = np.ones(32 << 20)
    _, peak = measured("--help", module="json.tool")
    assert 0 < peak < large.nbytes / 2**20 / 2


def test_a_command_that_fails_is_not_measured():
    with pytest.raises(RuntimeError, match="No such file"):
        measured("no-such-file", module="json.tool")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_fits_the_specs_that_it_measures(name):
    assert callable(import_module(f"bench.measurements.{name}").rows)
