"""The functions and derivatives that unary ops declare agree with numerical ones in high precision."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.difference import differences
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import Draw, bit_patterns, edges, subnormals
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.spec.tolerances import precision
from tf_opdiff.harness.tests.rotation import subject
from tf_opdiff.suites.derived.exact_curve import ExactCurve
from tf_opdiff.suites.derived.twin import ELEMENTWISE
from tf_opdiff.suites.forms.unary import declarations
from tf_opdiff.suites.reference.promises.wide import mp

CATALOG = Catalog.load("tf_opdiff.suites")
OPS = {spec.name: op for spec, op in declarations(CATALOG.specs.values())}
MODULES = {item.spec.name: item.module for item in CATALOG.items}
CURVES = {name: op for name, op in OPS.items() if isinstance(op.second_order, ExactCurve)}


def subjects(ops):
    """The ops of some specs as the subjects of a rotating test."""
    return [subject(op, MODULES[name], name=name) for name, op in ops.items()]


def test_there_are_unary_ops():
    assert len(OPS) > 50


@pytest.mark.parametrize("op", subjects(OPS))
def test_every_derivative_agrees_with_a_numerical_one(op):
    low, high = np.maximum(op.domain[0], -20.0), np.minimum(op.domain[1], 20.0)
    inside = [float(x) for x in low + (high - low) * (np.arange(1, 24) - 0.37) / 23 if abs(x) > 0.01]
    for x, derivative in zip(inside, op.df(np.array(inside)), strict=True):
        numerical = float(mp.re(mp.diff(lambda t: mp.convert(op.f.f(t)), mp.mpf(x))))
        assert abs(numerical - derivative) <= abs(numerical) * 1e-15, x


@pytest.mark.parametrize("op", subjects(OPS))
def test_values_are_wide_and_keep_nan_and_signs(op):
    assert np.isnan(op.f(np.array([np.nan, 1.0]))).tolist()[0]
    assert op.f(np.ones(3)).dtype == np.longdouble
    if op.f.odd:
        assert (np.signbit(op.f(np.array([-0.0]))) != np.signbit(op.f(np.array([0.0])))).all()


def _all_over(op):
    """Arguments of every dtype that is narrower than float64: the edges, random bits, all over the domain."""
    arrays = []
    for dtype in map(np.dtype, ("float16", "bfloat16", "float32")):
        arrays += [recipe(Draw(5), dtype)[0] for recipe in (edges, bit_patterns, subnormals)]
        arrays.append(Draw(3).uniform(100, low=op.domain[0], high=op.domain[1]).astype(dtype))
    arrays.append(np.arange(0, 1 << 16, 257).astype(np.uint16).view(np.float16))
    return np.concatenate([x.astype(np.float64) for x in arrays])


@pytest.mark.parametrize("op", subjects(OPS))
def test_the_function_in_float64_is_the_wide_one_as_far_as_float32_can_tell(op):
    x = _all_over(op)
    for function in (op.f, op.df):
        with np.errstate(all="ignore"):
            wide = function(x)
            with precision.quick() as taken:
                fast = np.asarray(function(x), np.float64)
            room = np.abs(wide) * op.float64_error + 2.0**-160
            apart = differences(fast, wide, np.dtype(np.float64), bound=room)
        assert taken
        wrong = np.flatnonzero(apart.wrong & ~((fast == 0) & (np.abs(wide) < 2.0**-1000)))
        assert not wrong.size, [(x[i], fast[i], wide[i]) for i in wrong[:5]]


def test_every_op_is_in_one_of_the_programs_of_all_ops():
    together = [CATALOG.specs[name].ops for name in ("unary-shapes", "unary-shapes-no-xla")]
    assert sorted(";".join(together).split(";")) == sorted(
        CATALOG.specs[name].ops for name, op in OPS.items() if not op.unsigned_zeros
    )


def test_the_programs_of_all_ops_take_the_last_numbers_of_each_domain():
    case = next(c for c in CATALOG.specs["unary-shapes"].cases() if c.recipe == "matrix")
    draw, dtype = Draw(case.seed), np.dtype(case.dtype)
    by_op = {CATALOG.specs[name].ops: CATALOG.specs[name] for name in OPS}
    for op, x in zip(case.spec.ops.split(";"), case.inputs(), strict=True):
        (whole,) = by_op[op].recipes["domain"](draw, dtype)
        assert np.array_equal(x, whole[-x.size :].reshape(x.shape), equal_nan=True), op


def test_every_unary_op_that_takes_16_bits_is_swept():
    main = [i for i in CATALOG.items if i.spec.name in OPS or i.suite in ("predicates", "rounding")]
    main = [i for i in main if i.spec.aspect == ELEMENTWISE and "subnormals" not in i.spec.recipes]
    assert [i.id for i in main if i.dtype in ("float16", "bfloat16") and not i.sweeps] == []


def test_every_unary_op_with_a_gradient_promises_its_second_order():
    assert [name for name, op in OPS.items() if op.second_order is None] == []


@pytest.mark.parametrize("op", subjects(CURVES))
def test_every_second_derivative_agrees_with_a_numerical_one(op):
    low, high = np.maximum(op.domain[0], -20.0), np.minimum(op.domain[1], 20.0)
    inside = [float(x) for x in low + (high - low) * (np.arange(1, 12) - 0.37) / 11 if abs(x) > 0.01]
    for x, curve in zip(inside, op.second_order.curve(np.array(inside)), strict=True):
        numerical = float(mp.re(mp.diff(lambda t: mp.convert(op.df.f(t)), mp.mpf(x))))
        assert abs(numerical - curve) <= abs(numerical) * 1e-15, x


@pytest.mark.parametrize("name", [subject(name, MODULES[name]) for name in CURVES])
def test_second_order_is_tried_where_the_formula_loses_digits(name):
    op, spec = CURVES[name], CATALOG.specs[f"{name}-second-order"]
    inputs = {recipe: Case(spec, "float32", recipe).inputs()[0].astype(float) for recipe in spec.recipes}
    low, high = op.domain
    sizes = np.geomspace(1e-30, 1e30, 200)
    everywhere = np.concatenate([sizes, -sizes if low < 0 else sizes, np.linspace(low, high, 200)])
    assert not op.second_order.lost(np.concatenate([inputs["inside"], inputs["limits"]])).any()
    assert op.second_order.lost(inputs["lost"]).any() == op.second_order.lost(everywhere).any()


@np.errstate(all="ignore")
def test_an_infinite_upstream_gives_an_infinity_or_nan_unless_the_curve_is_zero():
    alternatives = CATALOG.specs["elu-second-order"].tolerance.alternatives["hvp[0]"]
    curved, flat = np.array([-1.0]), np.array([1.0])
    for x, zero in ((curved, False), (flat, True)):
        values = alternatives(np.dtype("float32"), np.array([np.inf]), np.array([2.0]), x)
        assert any(np.isnan(value).all() for value in values)
        assert any((value == 0).all() for value in values) == zero
    finite = alternatives(np.dtype("float32"), np.array([3.0]), np.array([2.0]), curved)
    assert all(np.allclose(value, 6 * np.exp(-1.0)) for value in map(np.float64, finite))
