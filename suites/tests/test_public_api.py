"""Every public function of TensorFlow that computes is called by a spec, or stands in the list of those to do."""

import sys

from tf_opdiff.harness.paths import RAW_OPS, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.public_api import LIST, functions, to_do, uncalled
from tf_opdiff.harness.tests.forked_python import forked_python


def test_each_function_is_called_by_a_spec_or_is_to_do():
    assert to_do() == uncalled(Catalog.load(SUITES)), "python -m harness coverage --api writes the list"


def test_the_list_of_functions_to_do_shrinks():
    assert len(to_do()) <= 623


def test_a_function_is_called_where_the_run_has_to_prove_it():
    called = {*functions()} - {*uncalled(Catalog.load(f"{SUITES}.programs.api.numpy.numpy_functions"))}
    assert "experimental.numpy.tan" in called and "experimental.numpy.sin" not in called and "math.tan" not in called


def test_the_list_is_that_of_the_installed_tensorflow():
    process = forked_python("-m", "tf_opdiff.harness.device.public_api")
    assert process.returncode == 0, process.stderr
    if sys.version_info[:2] == (3, 11):  # Keras may be another version elsewhere
        assert process.stdout == (RAW_OPS / LIST).read_text("utf-8")
