"""Unary ops meet every region of their dtype's numbers: a recipe that leaves inputs out has another beside it."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import truth
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float, special_values
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.tests.rotation import subject
from tf_opdiff.suites.derived.special_places import LENGTHS, VECTOR, special, tail_places
from tf_opdiff.suites.forms.elementwise.flushed import gradient_within, outputs
from tf_opdiff.suites.forms.elementwise.kernel import ROUNDED
from tf_opdiff.suites.forms.elementwise.special_upstreams import KINDS
from tf_opdiff.suites.forms.recipes.regions import incomparable, within
from tf_opdiff.suites.forms.unary import declarations

CATALOG = Catalog.load("tf_opdiff.suites.ops")
SPECS = CATALOG.specs
MODULES = {item.spec.name: item.module for item in CATALOG.items}
OPS = {spec.name: op for spec, op in declarations(SPECS.values())}
#: Recipes of functions that leave out the inputs at which results are subnormal.
STRICT = ("edges", "bits", "plain", "domain")
PLACED = sorted(name for name, spec in SPECS.items() if "specials" in spec.recipes and spec.elementwise)
SHORT = sorted(f"{name}-short" for name in OPS)


def subjects(names):
    """Specs as the subjects of a rotating test."""
    return [subject(name, MODULES[name]) for name in names]


def inputs(spec, dtype, *recipes):
    """All inputs of some recipes of a spec, as an array of float64."""
    arrays = [x.ravel() for recipe in recipes for x in Case(spec, dtype, recipe).inputs()]
    with np.errstate(all="ignore"):
        return np.concatenate(arrays).astype(np.float64)


@pytest.mark.parametrize("name", subjects(OPS))
def test_inputs_that_strict_recipes_leave_out_are_in_another_recipe(name):
    spec, op, dtype = SPECS[name], OPS[name], "float32"
    others = inputs(spec, dtype, *(name for name in spec.recipes if name not in STRICT))
    drawn = [spec.recipes[name] for name in STRICT]
    assert drawn
    info = ml_dtypes.finfo(dtype)
    subnormal = (np.abs(others) < float(info.smallest_normal)) & (others != 0)
    assert (subnormal & (others > 0)).any()
    assert (subnormal & (others < 0)).any()
    raw = 2.0 ** Draw(8).uniform(300, low=info.minexp - info.nmant, high=info.maxexp) * np.where(
        Draw(9).booleans(300), 1, -1
    )
    low, high = op.domain
    raw = np.concatenate([raw, Draw(7).uniform(100, low=low, high=high)]).astype(dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        left_out = raw[incomparable(op.function, np.dtype(dtype), raw)]
        met = others[incomparable(op.function, np.dtype(dtype), others)]
    for sign in (1, -1):
        if (left_out * sign > 0).sum() > 2:
            assert (met * sign > 0).any(), (sign, left_out)


@pytest.mark.parametrize("name", subjects(OPS))
def test_every_region_that_is_set_aside_has_a_recipe_that_enters_it(name):
    spec = SPECS[name]
    for label, region in OPS[name].aside.items():
        with np.errstate(all="ignore"):
            hits = [within(region, np.dtype(d), inputs(spec, d, label)).any() for d in spec.dtypes]
        assert any(hits), label


@pytest.mark.parametrize("name", subjects(OPS))
def test_every_kind_of_upstream_meets_special_and_plain_inputs(name):
    for kind, values in KINDS.items():
        case = Case(SPECS[name], "float32", kind)
        (x,), expected = case.inputs(), values(np.dtype("float32"))
        g = SPECS[name].derivatives.upstreams[kind](Draw(0), np.dtype("float32"), *x.shape)
        pairs = set(zip(bits(g).tolist(), bits(x).tolist(), strict=True))
        assert {upstream for upstream, _ in pairs} == set(bits(expected).tolist())
        assert len(pairs) >= len(set(bits(x).tolist())) * (len(expected) - 1)


def test_a_value_that_is_neither_exact_nor_flushed_is_wrong():
    case = Case(SPECS["log"], "float32", "underflowing")
    with np.errstate(all="ignore"):
        want = expectation(case, case.inputs(), None).wants["output[0]"]
        (x,) = case.inputs()
        small = (x != 0) & (np.abs(x) < np.finfo(np.float32).smallest_normal)
        flushed = np.where(small, np.float32(-np.inf), truth(want).value)
        for planted, kind in (
            (truth(want).value, ""),
            (flushed, ""),
            (np.where(small & (x > 0), np.float32(-95), flushed), "value"),
        ):
            result = truth(want).__class__("value", planted.astype(np.float32))
            assert compare(result, replace(want, budget=3), "output[0]", inputs=(x,)).kind == kind


@pytest.mark.parametrize("name", subjects(PLACED))
def test_a_position_twin_holds_every_special_value_in_a_whole_vector_in_a_lane_and_in_a_tail(name):
    spec = SPECS[name]
    for dtype in spec.dtypes:
        whole, tails = (Case(spec, dtype, recipe).inputs()[0] for recipe in ("specials", "specials_in_tails"))
        values = bits(special(np.dtype(dtype)))
        vectors = bits(whole)[: len(whole) // VECTOR * VECTOR].reshape(-1, VECTOR)
        alone = {v[0] for v in vectors if (v == v[0]).all()}
        lanes = {value for v in vectors if not (v == v[0]).all() for value in v}
        in_tails = set(bits(tails)[tail_places(len(tails))])
        for held in (alone, lanes, in_tails):
            assert set(values) <= held, (dtype, special(np.dtype(dtype))[~np.isin(values, list(held))])


@pytest.mark.parametrize("name", subjects(SHORT))
def test_a_short_twin_holds_every_special_value_in_tensors_of_one_two_and_three(name):
    spec = SPECS[name]
    (x,) = Case(spec, "float32", "specials").inputs()
    count = len(special(np.dtype("float32")))
    assert x.size == count * sum(LENGTHS)
    for n, length in enumerate(LENGTHS):
        part = bits(x)[sum(LENGTHS[:n]) * count :][: count * length].reshape(count, length)
        assert (part == part[:, :1]).all()
        assert set(part[:, 0]) == set(bits(special(np.dtype("float32"))))


def test_the_special_values_of_every_position_twin_are_tried_under_xla_too():
    for spec in (spec for name, spec in SPECS.items() if spec.aspect == "position" and f"{name}-xla" in SPECS):
        special_recipes = spec.recipes.keys() - {"mixed"}
        twin = SPECS.get(f"{spec.name}-xla-special")
        assert (twin.recipes.keys() if twin else set()) == special_recipes, spec.name
        if twin:
            assert (twin.modes, twin.tier, twin.elementwise, twin.dtypes) == (("xla",), "full", True, spec.dtypes)


def test_every_unary_spec_has_its_twins():
    assert {f"{name}-position" for name in OPS} <= set(PLACED)
    assert set(SHORT) <= SPECS.keys()
    assert {f"{name}-gradient-alone" for name in OPS} <= set(SPECS)


def bits(array):
    """The bits of an array of floats or integers; all NaNs alike."""
    if is_float(array.dtype):
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize(("g", "right"), [(0.0, {"0.0", "-0.0"}), (np.inf, {"inf", "-inf", "nan"}), (1.0, {"1e-10"})])
def test_the_sign_of_a_derivative_within_its_error_is_open_for_special_upstreams_only(g, right):
    x, upstream = np.ones(1), np.array([g])
    slope = lambda x: np.full(x.shape, 1e-10)  # noqa: E731
    alternatives = gradient_within(lambda d: lambda g, x: g * d(x), slope, ROUNDED, [lambda u, g, x: 1e-9 * np.abs(g)])
    with np.errstate(invalid="ignore"):
        values = [upstream * slope(x), *alternatives(np.dtype("float32"), upstream, x)]
    assert {str(float(value[0])) for value in values} == right


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_subnormal_result_may_be_flushed_unless_it_is_computed_in_a_wider_dtype(dtype):
    x = np.array([float(ml_dtypes.finfo(dtype).smallest_normal) / 2])
    zeros = [value for value in outputs(lambda x: x, ROUNDED)(np.dtype(dtype), None, x) if value[0] == 0]
    assert bool(zeros) == (dtype != "float16")


@pytest.mark.parametrize("name", subjects(name for name in OPS if f"{name}-second-order" in SPECS))
def test_second_order_is_tried_at_its_limits(name):
    spec = SPECS[f"{name}-second-order"]
    recipes = [recipe for recipe in ("limits", "lost") if recipe in spec.recipes]
    x = np.concatenate([Case(spec, "float32", recipe).inputs()[0] for recipe in recipes])
    size = np.abs(x[x != 0].astype(np.float64))
    assert size.min() < 1e-5 or name == "acosh"
    assert size.max() > 1e9 or np.max(np.abs(OPS[name].domain)) <= 90


@pytest.mark.parametrize(
    "name", [name for name, spec in SPECS.items() if name.endswith("-grad") and KINDS.keys() <= spec.recipes.keys()]
)
def test_a_gradient_op_meets_every_upstream_with_every_special_value(name):
    for kind, values in KINDS.items():
        g, y = Case(SPECS[name], "float32", kind).inputs()
        pairs = set(zip(bits(g).tolist(), bits(y).tolist(), strict=True))
        specials = bits(special_values(np.dtype("float32"))).tolist()
        assert {(a, b) for a in bits(values(np.dtype("float32"))).tolist() for b in specials} <= pairs
