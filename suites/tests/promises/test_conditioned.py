"""A promise by its formula: the gradient is that of the formula, and the errors hold what rounding does, not more."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.promises.conditioned import Conditioned

U = 2.0**-24


def softmax(x):
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)


@pytest.fixture
def logits():
    return Draw(1).uniform(3, 5) * 4


def test_the_gradient_is_that_of_the_formula(logits):
    g, p = Draw(2).uniform(3, 5), softmax(logits)
    (gradient,) = Conditioned(softmax, 8).vjp(g, logits)
    assert np.allclose(np.asarray(gradient, float), p * (g - np.sum(g * p, axis=-1, keepdims=True)), rtol=1e-12)


def test_integers_and_unconnected_inputs_have_no_gradient():
    x, i = np.array([1.0, 2.0]), np.array([1, 1])
    both = Conditioned(lambda x, y, i: x[i] + y, 1, unconnected=(1,)).vjp(np.ones(2), x, x, i)
    assert both[1:] == (None, None) and both[0].tolist() == [0, 2]


def test_the_errors_hold_float32_and_little_more(logits):
    promise, narrow = Conditioned(softmax, 8), logits.astype(np.float32)
    exact = narrow.astype(float)
    off = np.abs(softmax(narrow) - promise.f(exact))
    error = promise.error(U, exact)
    assert np.all(off <= error) and np.all(error <= 64 * U)


def test_the_error_of_a_gradient_grows_where_the_gradient_is_sensitive():
    def hinge(x):
        return np.log(np.cosh(x[:1] - x[1:]))

    near, far = np.array([100.0, 100.01]), np.array([100.0, 97.0])
    errors = [Conditioned(hinge, 1).grad_error(0, U, np.ones(1), x)[0] for x in (near, far)]
    assert errors[0] > 50 * U > errors[1]


def test_numbers_that_are_moved_are_exact_and_sums_of_gradients_are_not():
    promise, x = Conditioned(lambda x: np.stack([x, x]), 0), np.array([1.0, 3.0])
    assert promise.error(U, x) == 0.0
    assert promise.grad_error(0, U, np.ones((2, 2)), x).tolist() == [2 * U, 2 * U]


def test_several_results_have_errors_and_gradients_of_their_own():
    promise, x = Conditioned(lambda x: (2 * x, x * x), 1, outputs=2), np.array([3.0])
    assert [np.asarray(y, float).tolist() for y in promise.f(x)] == [[6], [9]]
    assert promise.vjp((np.ones(1), np.full(1, 10.0)), x)[0].tolist() == [62]
    assert [e.shape for e in promise.error(U, x)] == [(1,), (1,)]
