"""Running error analysis bounds what floating point does, and knows what is exact."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.promises.running import Running, bound

UNIT = 2.0**-24

CHAINS = {
    "sum": lambda a, b: np.sum(a * b, axis=1) + 1,
    "difference": lambda a, b: (a - b) * (a + b),
    "quotient": lambda a, b: a / (b + 3) - b / (a + 3),
    "product": lambda a, b: (a @ b.T) @ b,
    "root": lambda a, b: np.sqrt(np.square(a) + np.abs(b)) / (np.sqrt(np.abs(a)) + 1),
    "logarithm": lambda a, b: np.log(np.sum(np.exp(a * b), axis=1)),
    "tangent": lambda a, b: np.tanh(a * b) + np.tanh(3 * a),
    "mean": lambda a, b: np.mean(np.square(a - np.mean(a, axis=0)), axis=0),
    "choice": lambda a, b: np.where(a.T > 0, a.T, b.T) * np.maximum(a.T, b.T),
    "stack": lambda a, b: np.concatenate([np.stack([a, b])[1], -a * b]),
}


def inputs():
    draw = Draw(7)
    return [draw.uniform(9, 9).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize("name", CHAINS)
def test_values_are_those_of_plain_arrays(name):
    plain = [x.astype(np.float64) for x in inputs()]
    computed = CHAINS[name](*(Running.exact(x, UNIT) for x in plain))
    assert np.array_equal(computed.value, CHAINS[name](*plain))


@pytest.mark.parametrize("name", CHAINS)
def test_what_float32_gives_is_within_the_errors(name):
    computed = CHAINS[name](*inputs()).astype(np.float64)
    exact = CHAINS[name](*(Running.exact(x, UNIT) for x in inputs()))
    off = np.abs(computed - exact.value)
    assert (off <= exact.error).all()
    assert name == "stack" or off.max() > exact.error.max() / 100


def test_a_wrong_operation_is_beyond_the_errors():
    a, b = inputs()
    exact = CHAINS["root"](*(Running.exact(x, UNIT) for x in (a, b)))
    wrong = CHAINS["root"](a, b * np.float32(1 + 2**-18))
    assert (np.abs(wrong - exact.value) > exact.error).any()


@pytest.mark.parametrize("change", [lambda x: x + 0, lambda x: x * 1, lambda x: -x * 0, lambda x: np.abs(x) - 0])
def test_zeros_and_ones_add_no_error(change):
    assert not change(Running.exact(inputs()[0], UNIT)).error.any()


def test_an_error_is_carried_through_what_is_exact():
    x = Running(np.array([3.0]), np.array([0.5]), UNIT)
    assert [(x - 0).error[0], (-1 * x).error[0], (x * 0).error[0]] == [0.5, 0.5, 0]


def test_a_bound_leaves_integers_as_they_are():
    computed = bound(lambda x, i: (x[i] + x[i],), 0)(UNIT, None, inputs()[0], np.array([1, 1, 2]))
    assert computed.shape == (3, 9)
    assert (computed > 0).all()


def test_a_maximum_has_the_error_of_the_larger_number_unless_either_may_be_it():
    a, b = Running(np.array([1.0, 1.0, 1.0]), np.full(3, 0.5), UNIT), Running.exact([3.0, 0.0, 1.25], UNIT)
    assert np.maximum(a, b).error.tolist() == [0, 0.5, 0.5]
