"""Every op that adds up or multiplies floats meets finite operands whose sums and squares leave the dtype."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.reductions.overflow import OVERFLOW, SIZES
from tf_opdiff.suites.reference.promises.promise import Promise

SPECS = Catalog.load("tf_opdiff.suites.ops").specs.values()
TOP = float(ml_dtypes.finfo("float16").max)


class Means(Promise):
    """A mean, and a sum of squares whose bound is half of the result."""

    def f(self, x, y):
        return np.stack([x.mean(), (y * y).sum()])

    def vjp(self, g, x, y):
        return np.full(x.shape, g[0] / x.size), 2 * g[1] * y

    def error(self, u, x, y):
        return np.array([u, 2 * u]) * self.f(x, y)

    def grad_error(self, i, u, g, x, y):
        return 2 * u * np.abs(self.vjp(g, x, y)[i])


def of_means(promise=None, **fields):
    """The twins of an op of two operands, by the ends of their names."""
    specs = op(
        "means",
        "AddV2",
        program=lambda tf, x, y: tf.stack([tf.reduce_mean(x), tf.reduce_sum(y * y)]),
        promise=promise or Means(),
        calls={"first": call((2, 3), (4,)), "second": call((5,), (1,))},
        recipes={"plain": plain},
        **{"dtypes": {"float32": "default", "float16": "full"}, **fields},
    )
    return {spec.name.partition(OVERFLOW)[2]: spec for spec in specs if spec.aspect == OVERFLOW}


def promised(recipe, quantity="output[0]"):
    """The inputs of a case in float16, and the promise of one quantity."""
    case = next(case for case in of_means()[""].cases() if case.recipe == recipe)
    xs = case.inputs()
    return xs, expectation(case, xs, None).wants[quantity]


def kind(value, want):
    """The kind of difference between a result in float16 and a promise."""
    return compare(Result("value", np.asarray(value).astype(np.float16)), want, "output[0]").kind


def test_ops_that_add_up_have_large_operands():
    present = {name for spec in SPECS if spec.aspect == OVERFLOW for name in spec.every_op}
    sums = {"Mean", "Sum", "EuclideanNorm", "L2Loss", "MatMul", "Conv2D", "AvgPool", "SegmentMean", "Cumsum", "Softmax"}
    assert sums | {"LRN", "FusedBatchNormV3", "ResourceApplyAdam", "SparseSegmentMean", "ScatterNd"} <= present


def test_an_op_without_errors_has_none():
    present = {name for spec in SPECS if spec.aspect == OVERFLOW for name in spec.every_op}
    assert not {"GatherV2", "Unique", "Where", "Reverse"} & present


def test_float16_is_in_the_default_tier_and_float32_in_the_full_one():
    specs = of_means()
    assert (specs[""].dtypes, specs[""].modes, specs[""].tier) == (("float16",), ("eager",), "default")
    assert (specs["-other"].dtypes, specs["-other"].modes) == (("float32",), ("eager", "xla"))
    assert specs["-other"].tier == "full"


def test_one_operand_of_each_call_is_large_and_none_is_negative():
    cases = of_means()[""].cases()
    assert {case.recipe for case in cases} == {f"{size}_{i}" for size in SIZES for i in range(2)}
    for case in cases:
        size, _, operand = case.recipe.rpartition("_")
        for number, x in enumerate(case.inputs()):
            assert (x >= 0).all() and np.isfinite(x).all()
            largest = float(x.max())
            if number % 2 != int(operand):
                assert largest <= 4
            else:
                assert largest > TOP / 2 if size == "sum" else TOP < largest**2 < 8 * TOP


def test_upstreams_are_positive():
    case = next(case for case in of_means()[""].cases() if case.recipe == "sum_0")
    assert all((g > 0).all() for g in expectation(case, case.inputs(), None).upstreams)


def test_a_mean_that_is_lost_on_the_way_is_a_mismatch():
    xs, want = promised("sum_0")
    assert float(xs[0].astype(np.float64).sum()) > TOP
    mean = float(xs[0].astype(np.float64).mean())
    squares = float((xs[1].astype(np.float64) ** 2).sum())
    assert kind([mean, squares], want) == ""
    assert kind([np.inf, squares], want) == "inf"


@pytest.mark.parametrize(("off", "kinds"), [(1e-5, {""}), (0.01, {"inf"})])
def test_both_sides_of_an_end_of_the_dtype_are_right_within_the_error(off, kinds):
    class Near(Promise):
        def f(self, x, y):
            return np.full(x.shape, TOP * (1 + off))

        def error(self, u, x, y):
            return np.full(x.shape, 0.001 * TOP)

    case = of_means(Near(), gradient=False)[""].cases()[0]
    xs = case.inputs()
    want = expectation(case, xs, None).wants["output[0]"]
    assert kind(np.full(want.value.shape, np.inf), want) == ""
    assert kind(np.full(want.value.shape, TOP), want) in kinds


def test_an_operand_that_is_left_out_has_no_recipes():
    specs = of_means(ordinary={"sum_0": "a reason", "square_*": "a reason", "grad": "a reason"})
    assert {*specs[""].recipes} == {"sum_1"}
    assert specs[""].derivatives.vjp is None
