"""Compositions: what a table promises, and that a wrong rewrite of a program breaks it."""

from importlib import import_module

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.forms.programs.composition import FLUSHING, SIDE, composition
from tf_opdiff.suites.reference.promises.numpy_tensorflow import TF
from tf_opdiff.suites.reference.promises.step import NONE, Step

SPECS = {n: s for n, s in Catalog.load(SUITES).specs.items() if n.startswith("compose-")}
TABLES = {n: s for n, s in SPECS.items() if s.names}
NAN, INF, TOP, TINY = np.nan, np.inf, 3.4028235e38, 1.1754944e-38


def test_the_default_tier_has_at_least_300_programs():
    assert sum(len(spec.names) or 1 for spec in SPECS.values() if spec.tier != "full") >= 300


@pytest.mark.parametrize("name", TABLES)
@np.errstate(all="ignore")
def test_every_output_has_a_name_of_its_own(name):
    spec = TABLES[name]
    (case, *_) = spec.cases()
    outputs = spec.reference(*case.inputs())
    assert len(outputs) == len(spec.names) == len(set(spec.names))
    assert [spec.name_of(f"output[{i}]") for i in range(len(outputs))] == list(spec.names)


@pytest.mark.parametrize("name", SPECS)
def test_a_script_of_a_finding_can_define_the_program(name):
    writer = Writer()
    writer.function(SPECS[name].program, "program")
    names = {"np": np, **{alias: import_module(module) for alias, module in writer.imports.items()}}
    exec(writer.text, names)  # noqa: S102  the text is of our own program
    assert callable(names["program"])


#: Programs, and results of rewrites that do not keep their promise.
REWRITES = {
    "x + 0.0": lambda x, y: x,
    "0.0 - x": lambda x, y: -x,
    "x * 0.0": lambda x, y: np.zeros_like(x),
    "x / x": lambda x, y: np.ones_like(x),
    "x - x": lambda x, y: np.zeros_like(x),
    "tf.equal(x, x)": lambda x, y: np.ones(x.shape, bool),
    "tf.logical_not(x < y)": lambda x, y: x >= y,
    "tf.pow(x, 0.5)": lambda x, y: np.sqrt(x),
    "tf.pow(x, 2.0)": lambda x, y: np.abs(x),
    "tf.sqrt(tf.square(x))": lambda x, y: np.abs(x),
    "tf.square(tf.sqrt(x))": lambda x, y: np.abs(x),
    "x / 3.0": lambda x, y: x * np.float32(1 / 3),
    "(x * 1e30) * 1e-30": lambda x, y: x,
    "(x + 12582912.0) - 12582912.0": lambda x, y: x,
    "(x + y) - x": lambda x, y: y,
    "(x * y) / y": lambda x, y: x,
    "tf.math.log(tf.exp(x))": lambda x, y: x,
    "tf.exp(tf.math.log(x))": lambda x, y: x,
    "tf.reduce_max(x * 0.0, 0)": lambda x, y: np.zeros(SIDE, np.float32),
    "tf.argmax(tf.tanh(x), 0)": lambda x, y: np.argmax(x, 0),
    "tf.cast(tf.cast(x, tf.float16), tf.float32)": lambda x, y: x,
    "tf.where(x < y, x, x) * 0.0": lambda x, y: np.zeros_like(x),
}


@pytest.mark.parametrize("text", REWRITES)
@np.errstate(all="ignore")
def test_a_wrong_rewrite_breaks_the_promise_of_its_own_output_only(text):
    spec = composition("planted", [text, "-x"], built="Neg")
    broken = set()
    for case in spec.cases():
        x, y = case.inputs()
        wants = expectation(case, (x, y), None).wants
        results = {"output[0]": REWRITES[text](x, y), "output[1]": -x}
        broken |= {q for q, value in results.items() if compare(Result("value", value), wants[q], q).kind}
    assert broken == {"output[0]"}


@pytest.mark.parametrize("text", REWRITES)
@np.errstate(all="ignore")
def test_a_step_by_step_result_keeps_the_promise_whether_subnormals_are_flushed_or_not(text):
    spec = composition("planted", [text], built="Neg")
    for case in spec.cases():
        inputs = case.inputs()
        want = expectation(case, inputs, None).wants["output[0]"]
        for flushing in (NONE, *FLUSHING):
            x, y = (Step(a, None, flushing) for a in inputs)
            value = eval(text, {"tf": TF, "x": x, "y": y}).value
            assert not compare(Result("value", value), want, "output[0]").kind


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("x + 0.0", [-0.0, NAN], [0.0, NAN]),
        ("x * 0.0", [-1, INF, NAN], [-0.0, NAN, NAN]),
        ("x / x", [0, INF, 3], [NAN, NAN, 1]),
        ("tf.pow(x, 0.5)", [-0.0, -INF], [0.0, INF]),
        ("tf.sqrt(x)", [-0.0, -INF], [-0.0, NAN]),
        ("(x * 2.0) / 2.0", [TOP, -TOP, 1], [INF, -INF, 1]),
        ("(x + 16777216.0) - 16777216.0", [1, 2], [0, 2]),
        ("tf.cast(tf.cast(x, tf.float16), tf.float32)", [65520, 2049], [INF, 2048]),
        ("tf.cast(tf.cast(x, tf.int32), tf.float32)", [-2.7, 2.7], [-2, 2]),
    ],
)
@np.errstate(all="ignore")
def test_steps_follow_ieee_754_and_c99(text, x, expected):
    got = eval(text, {"tf": TF, "x": Step(np.array(x, np.float32))})
    np.testing.assert_array_equal(got.value, np.array(expected, np.float32))
    signs = np.copysign(1, np.array([got.value, expected]))[:, ~np.isnan(expected)]
    np.testing.assert_array_equal(*signs)


@np.errstate(all="ignore")
def test_a_radius_grows_with_the_derivative_and_exact_steps_have_none():
    x = Step(np.array([80.0], np.float32))
    assert (x * 3.0 + 1.0).radius is None
    once, twice = TF.exp(x), TF.exp(TF.math.log(TF.exp(x)))
    ulp = np.spacing(once.value)
    assert once.radius == pytest.approx(8 * ulp)
    assert 50 * ulp < twice.radius < 2000 * ulp
