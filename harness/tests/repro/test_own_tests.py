"""Whether TensorFlow's own tests would notice a difference is computed from the example of a record."""

from types import SimpleNamespace

import pytest

from tf_opdiff.harness.repro.trials.own_tests import noticed


def record(*, dtype="float32", **fields):
    return SimpleNamespace(dtype=dtype, **fields)


@pytest.mark.parametrize(
    ("mode", "dtype", "got", "want", "allowed"),
    [
        ("xla", "float32", "1.0005", "1.0", True),
        ("xla", "float32", "1.002", "1.0", False),
        ("eager", "float32", "1.0005", "1.0", False),
        ("eager", "bfloat16", "1.008", "1.0", True),
        ("graph", "float64", "1e-7", "0.0", True),
        ("xla", "float32", "nan", "0.0", False),
        ("xla", "float32", "nan", "nan", True),
        ("xla", "float32", "0.0", "-0.0", True),
        ("xla", "float32", "-1431.3", "-inf", False),
        ("xla", "complex64", "(1+2j)", "(1-2j)", False),
    ],
)
def test_the_tolerances_decide(mode, dtype, got, want, allowed):
    text = noticed(record(mode=mode, dtype=dtype, got=got, want=want))
    assert ("do not allow" not in text) == allowed and "allow this result." in text


def test_errors_and_arrays_have_no_tolerance():
    assert noticed(record(mode="xla", got="error INTERNAL", want="1.0")) == ""
    assert noticed(record(mode="xla", got="float32[3]", want="1.0")) == ""
