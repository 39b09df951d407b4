"""Bounds of sums and products hold in every order, and wrong axes, lost elements and wrong scales exceed them."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.linear_algebra.contraction import Contraction
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma, product_roundings, sum_error, sums_exactly
from tf_opdiff.suites.reference.reductions import reduction as ref

SPECS = Catalog.load("tf_opdiff.suites.ops.math").specs


def in_order(x, order):
    """The sum of a vector, one number after the other, each sum rounded to its dtype."""
    total = x.dtype.type(0)
    for i in order:
        total = (total + x[i]).astype(x.dtype)
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_bound_of_a_sum_holds_in_every_order(dtype):
    draw, u = Draw(3), float(ml_dtypes.finfo(dtype).eps) / 2
    for scale in (0, 12):
        x = (draw.uniform(101) * 2.0 ** draw.integers(101, low=-scale, high=scale + 1)).astype(dtype)
        bound = sum_error(u, x.astype(np.float64), 0)
        exact = ref.total(x.astype(np.float64), 0)
        for order in (range(101), range(100, -1, -1), np.argsort(np.abs(x))):
            assert abs(in_order(x, order) - exact) <= bound


def test_sums_of_integers_are_exact_until_they_have_too_many_bits():
    x = np.array([3.0, -5.0, 2.0**20, 0.0, np.inf])
    assert sums_exactly(x[:4], 0, FLOAT32)
    assert not sums_exactly(np.array([2.0**25, 1.0]), 0, FLOAT32)
    assert not sums_exactly(np.array([1.0, 2.0**-25]), 0, FLOAT32)
    assert not sums_exactly(x, 0, FLOAT32)
    assert sum_error(0.0, x[:4], 0) == 0


def test_products_with_powers_of_two_are_not_rounded():
    assert product_roundings(np.array([2.0, -0.5, 3.0, 1.0]), 0) == 0
    assert product_roundings(np.array([3.0, 5.0, 7.0, 2.0]), 0) == 2


def test_many_roundings_allow_any_result_but_no_more():
    assert gamma(2**24, FLOAT32) == 1
    assert gamma(1, FLOAT32) == pytest.approx(FLOAT32)


def judged(name, recipe, quantity, wrong):
    """The kind of difference of a wrong result, made from the inputs and the upstreams of a case."""
    case = next(case for case in SPECS[name].cases("float32") if case.recipe == recipe)
    xs = case.inputs()
    promise = expectation(case, xs, None)
    value = np.asarray(wrong(xs, promise), np.float32)
    want = promise.wants[quantity]
    assert value.shape == want.value.shape
    return compare(Result("value", value), want.in_mode("eager"), quantity).kind


@pytest.mark.parametrize(
    ("name", "numpy", "last"),
    [("sum", np.sum, 90.0), ("mean", np.mean, 90.0), ("max", np.max, 90.0), ("min", np.min, -90.0)],
)
def test_wrong_axes_wrong_elements_and_wrong_scales_are_noticed(name, numpy, last):
    assert judged(name, "exact", "output[0]", lambda xs, _: numpy(xs[0])) == ""
    assert judged(name, "plain", "output[5]", lambda xs, _: np.swapaxes(xs[5], 1, 2).reshape(3, 5, 7)) == "value"
    assert judged(name, "exact", "output[0]", lambda xs, _: numpy(np.r_[xs[0].ravel()[:-1], last])) == "value"
    gradient = "grad[2]"
    assert judged(name, "plain", gradient, lambda xs, p: p.wants[gradient].value) == ""
    assert judged(name, "plain", gradient, lambda xs, p: p.wants[gradient].value * (1 + 2.0**-20)) == "value"


def test_a_lost_term_of_a_product_of_matrices_is_noticed():
    assert judged("matmul", "exact", "output[0]", lambda xs, _: xs[0] @ xs[1]) == ""
    assert judged("matmul", "exact", "output[0]", lambda xs, _: xs[0][:, :-1] @ xs[1][:-1]) == "value"
    assert judged("matmul", "plain", "output[0]", lambda xs, _: xs[0][:, :-1] @ xs[1][:-1]) == "value"


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ji,jk->ik", ((4, 3), (4, 2))), ("...ij,...jk->...ik", ((2, 1, 3, 2), (4, 2, 5))), ("ij,k->k", ((2, 3), (2,)))],
)
def test_gradients_of_contractions_are_those_of_differences(equation, shapes):
    draw, product = Draw(5), Contraction(equation)
    xs = [draw.uniform(*shape) for shape in shapes]
    g = draw.uniform(*product.f(*xs).shape)
    for i, gradient in enumerate(product.vjp(g, *xs)):
        step = draw.uniform(*shapes[i])
        moved = [x + step if j == i else x for j, x in enumerate(xs)]
        assert np.sum(g * (product.f(*moved) - product.f(*xs))) == pytest.approx(np.sum(gradient * step), abs=1e-12)


def test_gradients_of_adjoint_matrices_are_conjugated():
    draw, adjoint = Draw(7), Contraction("ji,jk->ik", (True, False))
    x, y = (draw.uniform(3, 2) + 1j * draw.uniform(3, 2) for _ in "xy")
    g = draw.uniform(2, 2) + 1j * draw.uniform(2, 2)
    assert np.allclose(adjoint.f(x, y).astype(complex), x.conj().T @ y)
    by_x, by_y = adjoint.vjp(g, x, y)
    assert np.allclose(by_x.astype(complex), y @ g.conj().T)
    assert np.allclose(by_y.astype(complex), x @ g)
