"""`check` runs a callable on every device and in every mode; it sees planted differences of results and gradients."""

import re
import subprocess
import sys

import numpy as np
import pytest

import tf_opdiff
from tf_opdiff import Differs, check, uniform


def floor(x):
    import tensorflow as tf

    return tf.custom_gradient(lambda y: (tf.floor(y), lambda g: g))(x)


def doubled_when_traced(x):
    import tensorflow as tf

    return x * (1.0 if tf.executing_eagerly() else 2.0)


def gradient_doubled_in_graphs(x):
    import tensorflow as tf

    @tf.custom_gradient
    def identity(y):
        traced = tf.inside_function() or not tf.executing_eagerly()
        return tf.identity(y), lambda g: g * (2.0 if traced else 1.0)

    return identity(x)


def test_a_straight_through_estimator_keeps_its_promise_everywhere():
    checked = check(floor, uniform(-3, 3), reference=np.floor, vjp=lambda g, x: g, devices=["cpu"])
    assert set(checked.plans) == {"cpu/eager", "cpu/function", "cpu/xla", "cpu/graph"}
    assert {"output[0]", "grad[0]"} == {record.quantity for record in checked.records}
    assert {"floor", "floor-gradient-alone", "floor-unknown-shape"} == {record.spec for record in checked.records}


@pytest.mark.parametrize(
    ("function", "promises", "quantity", "plans"),
    [
        (doubled_when_traced, {}, "output[0]", {"function", "xla", "graph"}),
        (gradient_doubled_in_graphs, {}, "grad[0]", {"function", "xla", "graph"}),
        (floor, {"vjp": lambda g, x: 2 * g}, "grad[0]", {"eager", "function", "xla", "graph"}),
        (floor, {"reference": np.ceil, "gradient": False}, "output[0]", {"eager", "function", "xla", "graph"}),
    ],
    ids=["another value when traced", "another gradient when traced", "a wrong gradient", "a wrong result"],
)
def test_a_difference_is_reported_with_its_plans_and_the_command(function, promises, quantity, plans):
    with pytest.raises(Differs) as differs:
        check(function, uniform(1.25, 1.75), devices=["cpu"], rerun="pytest this", **promises)
    first, *_, last = str(differs.value).splitlines()
    assert set(re.findall(r"cpu/(\w+)(?=,| against)", first.partition(" against")[0] + " against")) == plans
    assert f"{quantity}: value" in first
    assert last == "  rerun: pytest this"


def test_a_wrong_gradient_is_seen_with_a_reference_alone():
    def tanh(x):
        import tensorflow as tf

        return tf.tanh(x)

    def wrong(x):
        import tensorflow as tf

        return tf.custom_gradient(lambda y: (tf.tanh(y), lambda g: g * (1 - tf.tanh(y))))(x)

    with pytest.raises(Differs, match=r"cpu/eager against numpy, grad\[0\]: value in .* vjp= gives another one"):
        check(wrong, uniform(-3, 3), reference=np.tanh, devices=["cpu"], modes=["eager"])
    assert check(tanh, uniform(-3, 3), reference=np.tanh, devices=["cpu"], modes=["eager"]).records


def test_a_gradient_that_cannot_be_tested_is_no_success():
    with pytest.raises(ValueError, match=r"gradient of input 0 was not tested.*give vjp= .*gradient=False"):
        check(lambda x: x * x, np.complex64([1 + 2j]), reference=np.square, devices=["cpu"], modes=["eager"])


def test_the_traceback_of_a_test_shows_the_test_and_the_reason_alone(tmp_path):
    (tmp_path / "test_own.py").write_text(
        "import threading\nfrom tf_opdiff import check\nlock = threading.Lock()\n"
        "def test_no_input():\n    check(abs)\n"
        "def test_no_numbers():\n    check(abs, 'text')\n"
        "def test_not_sent():\n    check(lambda x: lock, 1.0)\n"
        "def test_not_built():\n    import keras\n    check(keras.layers.Dense(2, name='plain'), [[1.0]])\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "4 failed" in done.stdout and "vary" in done.stdout
    assert "the Keras layer 'plain' is not built; call it once" in done.stdout
    assert "checking/" not in done.stdout


def test_without_a_reference_the_base_is_eager_mode_on_the_cpu():
    with pytest.raises(Differs, match="against cpu/eager") as differs:
        check(doubled_when_traced, np.float32([1, 2, 3]), devices=["cpu"])
    assert "numpy" not in str(differs.value)


def test_the_allowed_distance_decides():
    def off_by_four_ulps_when_traced(x):
        import tensorflow as tf

        return x if tf.executing_eagerly() else x * np.float32(1 + 4 * 2.0**-23)

    ones = np.ones(3, np.float32)
    check(off_by_four_ulps_when_traced, ones, ulp=4, modes=["eager", "function"], gradient=False)
    with pytest.raises(Differs, match="4 ULP, 3 allowed"):
        check(off_by_four_ulps_when_traced, ones, ulp=3, modes=["eager", "function"], gradient=False)


def gradient_that_cancels(x):
    import tensorflow as tf

    return tf.sin(x) * x  # its gradient, sin(x) + x cos(x), is 0 at 2.0288


def test_rounding_of_a_step_is_no_difference_unless_the_user_allows_none():
    inputs = np.linspace(2.02, 2.04, 67, dtype=np.float32)
    check(gradient_that_cancels, inputs, modes=["eager", "xla"])
    with pytest.raises(Differs, match=r"grad\[0\]: value"):
        check(gradient_that_cancels, inputs, modes=["eager", "xla"], ulp=15)


def test_a_fault_in_a_callable_that_cancels_is_seen():
    def difference(x):
        import tensorflow as tf

        return (tf.sin(x) - tf.sin(x * 1.001)) * (1.0 if tf.executing_eagerly() else 1.01)

    with pytest.raises(Differs, match=r"output\[0\]: value in 67 of 67"):
        check(difference, uniform(0.1, 1.0), modes=["eager", "function"], gradient=False)


def test_several_inputs_and_outputs_of_several_dtypes():
    def both(x, at):
        import tensorflow as tf

        return tf.gather(x, at), tf.reduce_sum(x), tf.shape(x)

    checked = check(both, uniform(-1, 1, (5, 2)), uniform(0, 5, (3,), "int32"), devices=["cpu"])
    assert {"output[0]", "output[1]", "output[2]", "grad[0]"} <= {record.quantity for record in checked.records}


def test_python_inside_runs_where_it_can():
    def python(x):
        import tensorflow as tf

        return tf.py_function(lambda y: y * 2, [x], tf.float32)

    check(python, 1.5, reference=lambda x: 2 * x, vjp=lambda g, x: 2 * g, modes=["eager", "function"])
    with pytest.raises(Differs, match="EagerPyFunc"):
        check(python, 1.5, modes=["xla"])


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((floor, 1.5), {"devices": ["gpu:7"]}, "device gpu:7 is not there"),
        ((floor, 1.5), {"modes": ["egar"]}, "mode 'egar' is none of eager"),
        ((floor, 1.5), {"reference": lambda x: floor(x)}, "may not import tensorflow"),
        ((floor, 1.5), {"ulp": -1}, "budget of output: expected a number of ULPs >= 0"),
        ((lambda x: x.nothing, 1.5), {}, "fails in eager mode on the CPU: AttributeError"),
    ],
    ids=["device", "mode", "reference", "ulp", "callable"],
)
def test_a_check_that_cannot_be_made_says_why_in_one_line(arguments, options, says):
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        check(*arguments, **options)
    assert str(error.value).startswith("check: ") and "\n" not in str(error.value)


def test_an_object_that_cannot_be_sent_is_named():
    import threading

    lock = threading.Lock()

    def locked(x):
        return x if lock else None

    with pytest.raises(TypeError, match=r"check: locked can't be sent to another process: .*lock"):
        check(locked, 1.0)


def test_a_crash_of_the_callable_costs_its_own_check_only():
    def dies(x):
        import os

        os.abort()

    with pytest.raises(ValueError, match="SIGABRT"):
        check(dies, 1.0)
    assert check(lambda x: x + 1, 1.0, devices=["cpu"]).records


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="no option 'ulps'; there is ulp, bound"):
        check(floor, 1.0, ulps=3)


def test_the_package_names_its_api():
    names = {name for of_module in tf_opdiff._API.values() for name in of_module}
    assert names == {"check", "uniform", "Differs", "Checked", "check_override", "NotApplied", "OverrideChecked"}
    assert all(callable(getattr(tf_opdiff, name)) for name in names)
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        _ = tf_opdiff.chek
