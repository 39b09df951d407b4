"""Every difference has the severity that the rule states."""

import math
from itertools import product

import pytest

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES, of_difference
from tf_opdiff.harness.spec.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_difference_has_a_severity(kind):
    dtypes = ["float32", "bfloat16", "complex64", "int32", "bool", "int4", "object"]
    for quantity, dtype in product(["output[0]", "grad[1]", "jvp[0]", "hvp[0]"], dtypes):
        name = of_difference(kind, quantity, 3.0, dtype)
        assert (name in SEVERITIES) == (kind != "reference"), (quantity, dtype)


@pytest.mark.parametrize(
    ("kind", "quantity", "max_ulp", "dtype", "name"),
    [
        ("crash", "output[0]", math.nan, "float32", "memory"),
        ("value", "output[0]", 4097, "float32", "wrong_value"),
        ("value", "output[0]", 4095, "float32", "accuracy"),
        ("value", "output[0]", 17, "bfloat16", "wrong_value"),
        ("value", "output[0]", 1, "int32", "wrong_value"),
        ("value", "output[0]", 4097, "complex64", "wrong_value"),
        ("value", "output[0]", 3, "complex64", "accuracy"),
        ("value", "grad[0]", 1e9, "float32", "wrong_gradient"),
        ("value", "grad[0]", 5, "float32", "accuracy"),
        ("gradient_status", "grad[0]", math.nan, "float32", "wrong_gradient"),
        ("status", "output[0]", math.nan, "float32", "error"),
        ("signed_zero", "output[0]", 0, "float32", "special_value"),
        ("nondeterministic", "output[0]", 2, "float32", "accuracy"),
        ("nondeterministic", "output[0]", math.nan, "int4", "wrong_value"),
        ("error_code", "output[0]", math.nan, "float32", "convention"),
    ],
)
def test_severity_follows_kind_then_quantity_then_distance(kind, quantity, max_ulp, dtype, name):
    assert of_difference(kind, quantity, max_ulp, dtype) == name
