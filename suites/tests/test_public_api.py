"""Every public function of TensorFlow that computes is called by a spec in every mode, or has a reason."""

import sys
from collections import Counter

import pytest

from tf_opdiff.harness.paths import RAW_OPS, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.public_api import LIST, functions, names
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.math.elementary import trigonometric


@pytest.fixture(scope="module")
def every_function():
    return [*functions(Catalog.load(SUITES))]


def test_each_function_is_called_or_has_a_reason(every_function):
    assert [function.name for function in every_function if function.missing] == []


def test_a_reason_is_about_a_function_that_no_spec_calls_in_that_mode(every_function):
    for function in every_function:
        called = {mode for modes in function.specs.values() for mode in modes}
        assert not called & function.left_out.keys(), function.name


def test_a_function_is_called_where_the_run_has_to_prove_it():
    catalog = Catalog.load(f"{SUITES}.programs.api.numpy.numpy_functions")
    called = {function.name for function in functions(catalog) if function.specs}
    assert "experimental.numpy.tan" in called and "experimental.numpy.sin" not in called and "math.tan" not in called


def test_a_function_with_two_names_is_called_by_either():
    catalog = Catalog.load(f"{SUITES}.programs.api.numpy.numpy_functions")
    assert {function.object for function in functions(catalog) if function.name == "nn.softplus"} == {"math.softplus"}
    specs = {function.name: [*function.specs] for function in functions(Catalog.load(f"{SUITES}.programs.api"))}
    assert specs["nn.zero_fraction"] == specs["math.zero_fraction"] != []


def test_the_list_is_that_of_the_installed_tensorflow():
    process = forked_python("-m", "tf_opdiff.harness.device.public_api")
    assert process.returncode == 0, process.stderr
    if sys.version_info[:2] == (3, 11):  # Keras may be another version elsewhere
        assert process.stdout == (RAW_OPS / LIST).read_text("utf-8")
        assert "math.sigmoid" in names() and names()["nn.sigmoid"] == "math.sigmoid"


def test_the_twin_of_an_op_calls_the_public_function_and_sees_its_faults(run_module):
    records = run_module("tf_opdiff.suites.tests.planted.planted_public", dtypes=["float32"])
    verdicts = {
        (spec, mode): Counter(r.verdict for r in records if (r.spec, r.mode) == (spec, mode))
        for spec in ("api-math-cos", "api-math-sin")
        for mode in ("eager", "function", "xla", "graph")
    }
    for (spec, mode), counts in verdicts.items():
        assert bool(counts["match"]), (spec, mode)
        assert bool(counts["mismatch"]) == (spec == "api-math-sin"), (spec, mode)


def test_a_twin_of_an_unknown_spec_is_refused():
    with pytest.raises(ValueError, match=r"math\.cosine: expected a spec of .*trigonometric, got 'cosine'"):
        [*twins(trigonometric, Public("math.cosine"))]
