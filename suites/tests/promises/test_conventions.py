"""The specs follow docs/explanations/conventions.md; no contract or bound excuses a bug of TensorFlow."""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Case, Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.suites.forms.unary import declarations
from tf_opdiff.suites.reference.elementwise.conventions import power_dy
from tf_opdiff.suites.reference.elementwise.division import floored

SPECS = Catalog.load(SUITES).specs


def promised(case, quantity="output[0]", side=None):
    with np.errstate(all="ignore"):
        return expectation(case, case.inputs(), side).wants[quantity]


def test_floor_division_at_infinities_is_that_of_python():
    finite = (1.4, -1.4, 0.0, -0.0, 3.0, -1e300)
    pairs = [(x, y) for x in finite for y in (math.inf, -math.inf)]
    pairs += [(x, y) for x in (math.inf, -math.inf) for y in (*finite[:2], math.inf)]
    x, y = np.array(pairs).T
    with np.errstate(all="ignore"):
        found = floored(x, y).astype(float)
    expected = np.array([a // b for a, b in pairs])
    assert np.array_equal(found, expected, equal_nan=True)
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(found)].all()


@pytest.mark.parametrize("name", ["maximum", "maximum-zeros", "minimum", "minimum-zeros", "relu", "relu6"])
def test_a_zero_of_either_sign_is_the_extreme_of_zeros(name):
    spec = SPECS[name]
    for recipe in spec.recipes:
        case = Case(spec, "float32", recipe)
        want = promised(case)
        right = want.value.astype(want.dtype)
        for value in (right, np.where(right == 0, np.float32(-0.0), right)):
            assert compare(Result("value", value), want, "output[0]").kind == ""


#: The gradient at NaN, in units of the upstream: the documented rules compare with 0, and NaN is not larger.
SLOPE_AT_NAN = {"elu": 1.0, "leaky-relu": 0.2, "relu": 0.0, "relu6": 0.0, "selu": 1.0507009873554805}


@pytest.mark.parametrize(("name", "at_nan"), SLOPE_AT_NAN.items())
def test_the_documented_rule_gives_the_gradient_at_nan(name, at_nan):
    g, x = np.array([2.0, -3.0]), np.array([np.nan, np.nan])
    assert SPECS[name].derivatives.vjp(g, x).astype(float) == pytest.approx(at_nan * g)
    if f"{name}-grad" in SPECS and name in ("elu", "selu"):
        with np.errstate(all="ignore"):
            assert SPECS[f"{name}-grad"].reference(g, x).astype(float) == pytest.approx(at_nan * g)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_nan_is_an_extreme_and_sends_the_upstream_to_the_second_number(name):
    g, x, y = np.array([2.0, -3.0, 4.0]), np.array([np.nan, 1.0, 5.0]), np.array([1.0, np.nan, 5.0])
    spec = SPECS[name]
    assert np.isnan(spec.reference(x, y)).tolist() == [True, True, False]
    to_x, to_y = spec.derivatives.vjp(g, x, y)
    assert (to_x.tolist(), to_y.tolist()) == ([0, 0, 4], [2, -3, 0])


def test_the_gradient_of_a_power_by_its_exponent_is_zero_where_the_base_is_not_positive():
    x = np.array([-2.0, -2.0, 0.0, -0.0, -np.inf, 2.0, -2.0, np.nan])
    y = np.array([3.0, 1e300, -1.0, 2.0, 2.0, 3.0, 0.5, 1.0])
    with np.errstate(all="ignore"):
        found = power_dy(x, y)
    assert found[:5].tolist() == [0, 0, 0, 0, 0]
    assert found[5] == pytest.approx(8 * math.log(2))
    assert np.isnan(found[6:]).all()


@pytest.mark.parametrize("name", ["sqrt", "reciprocal", "log"])
def test_what_is_right_behind_a_where_is_nothing_in_the_dead_side(name):
    spec = SPECS[f"where-dead-{name}"]
    case = Case(spec, "float32", "around_zero")
    (x,) = case.inputs()
    gradient = promised(case, "grad[0]").value
    assert (gradient[~(x > 0)] == 0).all()
    assert bool(spec.contract) == (name == "log")  # its documentation warns of these


EXCUSED_BEFORE = [
    *(n for n in SPECS if n.startswith("if-predicate") or n.endswith("-by-zero")),
    *(n for n in SPECS if "gather" in n and "out-of-range" in n and not n.startswith("tensor-")),  # documented errors
    *(
        n
        for n in SPECS
        if n.startswith("override-") and n.endswith("-map") and "compiled" not in n and "called" not in n
    ),
    "map-taped",
]


@pytest.mark.parametrize("name", EXCUSED_BEFORE)
def test_no_contract_excuses_a_bug_on_a_cpu(name):
    spec = SPECS[name]
    assert {mode: spec.side(Plan(Device.parse("cpu"), mode)) for mode in spec.modes} == dict.fromkeys(spec.modes)


def test_a_gradient_of_an_unregistered_name_is_an_error_in_every_mode():
    spec = SPECS["map-unregistered-taped"]
    sides = [spec.side(Plan(Device.parse("cpu"), mode)) for mode in spec.modes]
    assert all(side == sides[0] for side in sides)
    promise = sides[0].vjp(np.ones(1), np.ones(1))
    assert (promise.code, promise.says) == ("LookupError", "No gradient defined")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_bessel_function_that_is_zero_for_small_numbers_is_wrong(dtype):
    case = Case(SPECS["bessel-j1"], dtype, "tiny")
    want = promised(case)
    assert compare(Result("value", want.value.astype(dtype)), want, "output[0]").kind == ""
    assert compare(Result("value", 0 * want.value.astype(dtype)), want, "output[0]").kind == "value"


@pytest.mark.parametrize("name", ["bessel-i0e", "bessel-i1e"])
def test_a_gradient_far_out_has_to_be_right(name):
    case = Case(SPECS[name], "float64", "huge")
    want = promised(case, "grad[0]")
    assert compare(Result("value", 0 * want.value.astype("float64")), want, "grad[0]").kind


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_error_of_a_percent_in_erfinv_shows(dtype):
    case = Case(SPECS["erfinv"], dtype, "beside_one")
    want = promised(case)
    assert compare(Result("value", (0.99 * want.value).astype(dtype)), want, "output[0]").kind == "value"
    (x,) = case.inputs()
    assert np.abs(x).max() < 1
    assert 1 - np.abs(x).max() < 1e-4


@pytest.mark.parametrize("name", [n for n in SPECS if re.search(r"-subnormal(-|$)", n) and "-position" not in n])
def test_position_is_tried_with_subnormals(name):
    spec = SPECS[name]
    for mode, suffix in (("eager", "-position"), ("xla", "-position-xla")):
        if mode in spec.modes:
            moved = SPECS[name + suffix]
            assert (moved.elementwise, moved.modes, moved.dtypes) == (True, (mode,), spec.dtypes)
            xs = Case(moved, spec.dtypes[0], "mixed").inputs()
            tiny = float(ml_dtypes.finfo(spec.dtypes[0]).smallest_normal)
            assert any(((x != 0) & (np.abs(x.astype(float)) <= tiny)).sum() > 9 for x in xs)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (spec.name, dtype)
        for spec in SPECS.values()
        if "subnormals" in spec.recipes and any(spec.reference is op.f for _, op in declarations(SPECS.values()))
        for dtype in spec.dtypes
    ],
)
def test_no_contract_excuses_subnormals_that_some_positions_flush_and_others_keep(name, dtype):
    spec = SPECS[name]
    case = Case(spec, dtype, "subnormals")
    (x,) = case.inputs()
    with np.errstate(all="ignore"):
        kept = spec.reference(x.astype(float)).astype(x.dtype)
        lost = spec.reference(np.copysign(0.0, x.astype(float))).astype(x.dtype)
    if np.array_equal(kept, lost, equal_nan=True):
        return  # as of the cosine: there is nothing to excuse
    mixed = np.where(np.arange(x.size) < 64, lost, kept), np.where(np.arange(x.size) < 64, kept, lost)
    for mode in spec.modes:
        side = spec.side(Plan(Device.parse("cpu"), mode))
        want = promised(case, side=side).in_mode(mode)
        for value in mixed:
            assert compare(Result("value", value), want, "output[0]").kind
        whole = want.from_other(Result("value", kept), want)
        assert compare(Result("value", lost), whole, "output[0]").kind
