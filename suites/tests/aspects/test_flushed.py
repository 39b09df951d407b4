"""Flushed: where a processor may take subnormal numbers for zeros, each element has few right results and no others."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import truth
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.suites.forms.elementwise.flushed import distinct, gradient, outputs
from tf_opdiff.suites.forms.elementwise.kernel import EXACT, ROUNDED
from tf_opdiff.suites.reference.promises.subnormal import flushed_on_gpu

SPECS = Catalog.load("tf_opdiff.suites.ops").specs


def right(alternatives, dtype, x, g=None, exact=None):
    """The right results of one element, as numbers of a dtype."""
    x = np.array([x], np.longdouble)
    g = None if g is None else np.array([g], np.longdouble)
    with np.errstate(all="ignore"):
        others = alternatives(np.dtype(dtype), g, x)
    arrays = [a for other in others for a in (other if isinstance(other, tuple) else (other,))]
    return {str(float(value.astype(dtype)[0])) for value in (exact if exact is not None else x, *arrays)}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kernel", [EXACT, ROUNDED], ids=["exact", "rounded"])
def test_a_number_beside_the_smallest_normal_one_is_no_zero(dtype, kernel):
    """A slack of 1 % would be 84,000 ULPs in float32."""
    normal, eps = (float(v) for v in (ml_dtypes.finfo(dtype).smallest_normal, ml_dtypes.finfo(dtype).eps))
    beside = normal * (1 + max(64 * eps, 0.0105))
    assert right(outputs(np.positive, kernel), dtype, beside) == {str(float(np.longdouble(beside).astype(dtype)))}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_a_subnormal_number_is_itself_or_a_zero_of_its_sign(dtype):
    half = -float(ml_dtypes.finfo(dtype).smallest_normal) / 2
    assert right(outputs(np.positive), dtype, half) == {str(half), "-0.0"}


def test_float16_flushes_nothing():
    least = float(ml_dtypes.finfo("float16").smallest_subnormal)
    for kernel in (EXACT, ROUNDED):
        assert right(outputs(np.positive, kernel), "float16", least) == {str(least)}


def test_a_product_that_is_the_smallest_normal_number_is_no_zero():
    case = Case(SPECS["mul"], "float64", "special" if "special" in SPECS["mul"].recipes else "upstreams")
    with np.errstate(all="ignore"):
        want = expectation(case, case.inputs(), None).wants["output[0]"]
        normal = np.abs(want.value) == np.finfo(np.float64).smallest_normal
        assert normal.any()
        planted = truth(want).__class__("value", np.where(normal, 0.0, truth(want).value))
        assert "value" in compare(planted, replace(want, budget=0.5), "output[0]").kinds


def test_a_gradient_may_flush_its_factors_but_not_change_its_sign():
    dtype, tiny = "float32", float(ml_dtypes.finfo("float32").smallest_normal) / 2
    alternatives = gradient(lambda d: lambda g, x: g * d(x), lambda x: 2.0**100 * np.ones_like(x))
    exact = np.array([2.0**100 * tiny], np.longdouble)
    assert right(alternatives, dtype, 1.0, tiny, exact) == {str(float(exact[0])), "0.0"}
    assert right(alternatives, dtype, 1.0, -tiny, -exact) == {str(float(-exact[0])), "-0.0"}


#: A spec of each form that has alternatives → one of its recipes with subnormal results.
_FLUSHING = {
    "cumsum": "tiny",
    "exp": "underflowing",
    "leaky-relu": "underflowing",
    "mirror-pad-grad": "special",
    "mul": "tiny",
    "neg": "underflowing",
    "scatter-add": "special",
    "sum": "tiny",
    "unsorted-segment-sum": "special",
}


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", _FLUSHING)
def test_a_result_that_flushes_half_of_its_subnormals_is_wrong(name):
    case = next(case for case in SPECS[name].cases("float32") if case.recipe == _FLUSHING[name])
    promised = expectation(case, case.inputs(), None).in_mode("eager").wants
    wants = {q: want for q, want in promised.items() if q.startswith("output")}
    of_many = {quantity: tiny for quantity, want in wants.items() if (tiny := _subnormal(want)).sum() > 1}
    quantity, tiny = next(iter(of_many.items()))
    kept, half = truth(wants[quantity]).value, tiny & (np.cumsum(tiny).reshape(tiny.shape) % 2 == 0)
    for flushed, right in ((half & False, True), (tiny, True), (half, False)):
        result = np.where(flushed, np.copysign(np.float32(0), kept), kept)
        assert (not compare(Result("value", result), wants[quantity], quantity).kinds) == right


def _subnormal(want):
    """The elements of a promise that are subnormal in float32."""
    value = np.abs(truth(want).value)
    return (value > 0) & (value < np.finfo(np.float32).smallest_normal)


def test_arrays_that_are_equal_once_rounded_are_left_out():
    one, near, other = (np.array([v], np.longdouble) for v in (1.0, 1 + 2.0**-40, 2.0))
    assert distinct(one, [near, other, other], np.dtype("float32")) == [other]
    assert [len(distinct(one, [near], np.dtype(d))) for d in ("float32", "float64")] == [0, 1]


def test_a_derivative_beside_a_subnormal_one_is_not_rounded():
    """The product of a third and 3 is 1; that of a third that was rounded first is not, and is no right result."""
    x = np.array([1 / 3, 1e-40], np.longdouble)
    alternatives = gradient(lambda d: lambda g, x: g * d(x), np.positive, ROUNDED)
    others = alternatives(np.dtype("float32"), np.full(2, 3.0, np.longdouble), x)
    assert others
    assert {float(value[0]) for other in others for value in (other if isinstance(other, tuple) else (other,))} == {1.0}


def test_kernels_for_gpus_flush_the_subnormals_of_float32_and_keep_those_of_float64():
    assert flushed_on_gpu(np.array([2.0**-127, -(2.0**-149), 2.0**-126, 2.0**-1074])).tolist() == [
        *(0.0, -0.0),
        *(2.0**-126, 2.0**-1074),
    ]
    sides = {mode: SPECS["neg-subnormal"].side(Plan(Device.parse("gpu:0"), mode)) for mode in ("eager", "graph", "xla")}
    assert sides["xla"] is None
    assert [float(sides[mode].reference(np.array(2.0**-127))) for mode in ("eager", "graph")] == [0.0, 0.0]
