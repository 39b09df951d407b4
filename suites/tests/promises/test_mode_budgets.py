"""Budgets by mode: the kernels are not allowed the errors of XLA."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import truth
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Case

SPECS = Catalog.load("tf_opdiff.suites.ops").specs


def kinds(name, dtype, mode, steps):
    """The kinds by which an output that is a few numbers of its dtype too large breaks its promise in a mode."""
    case = Case(replace(SPECS[name], ceilings={}), dtype, "plain")
    with np.errstate(all="ignore"):
        want = expectation(case, case.inputs(), None).wants["output[0]"].in_mode(mode)
        value = truth(want).value
        normal = np.isfinite(value) & (np.abs(value) > 100 * float(ml_dtypes.finfo(dtype).smallest_normal))
        assert normal.sum() > 10
        larger = value.copy()
        for _ in range(steps):
            larger = np.where(normal, np.nextafter(larger, np.copysign(np.array(np.inf, dtype), larger)), value)
        planted = truth(want).__class__("value", larger)
        return compare(planted, want, "output[0]").kinds


@pytest.mark.parametrize("name", ["acosh", "asinh", "atanh", "expm1", "log1p"])
def test_the_next_number_of_float16_is_right_under_xla_only(name):
    assert kinds(name, "float16", "eager", 1) == ("value",)
    assert kinds(name, "float16", "xla", 1) == ()


@pytest.mark.parametrize(
    ("name", "dtype", "steps"), [("softplus", "float16", 4), ("lgamma", "float32", 7), ("acosh", "float64", 3)]
)
def test_an_error_of_xla_is_wrong_in_eager_mode(name, dtype, steps):
    assert kinds(name, dtype, "eager", steps) == ("value",)
    assert kinds(name, dtype, "xla", steps) == ()
