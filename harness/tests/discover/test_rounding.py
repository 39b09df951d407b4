"""Rounding is no difference, however large a program makes it; everything else is one."""

import numpy as np
import pytest

from tf_opdiff.discover.judging import explained
from tf_opdiff.discover.programs.program import Node, Program

X, Y = Node("x"), Node("y")
ONE = np.float32([1.0, 2.0, 3.0])


def op(text, *operands):
    return Node(text, operands)


def kind(got, want, *copies):
    return explained(np.float32(got), np.float32(want), [np.float32(copy) for copy in copies]).kind


def test_a_change_that_copies_make_is_no_difference():
    assert not kind([1.0001], [1.0], [1.00005], [0.9999])


def test_a_change_far_beyond_the_copies_is_a_difference():
    assert kind([1.01], [1.0], [1.00001], [0.99999]) == "value"


def test_a_class_that_a_copy_has_is_no_difference():
    assert not kind([np.nan], [1.0], [np.nan], [1.0])
    assert kind([np.nan], [1.0], [1.0], [1.0]) == "nan"


def test_an_overflow_of_a_number_that_is_nearly_one_is_no_difference():
    assert not kind([np.inf], [3.3e38], [3.3e38])
    assert kind([np.inf], [3.0], [3.0]) == "inf"


def test_a_comparison_that_a_copy_decides_otherwise_is_no_difference():
    got, want = np.array([True, True]), np.array([False, False])
    assert explained(got, want, [np.array([True, False])]).mismatched == 1


@pytest.mark.parametrize(
    "root",
    [
        op("tf.floor({0})", op("({0} * {1})", op("tf.exp({0})", X), Node("0.1"))),
        op("tf.sin({0})", op("tf.exp({0})", op("tf.exp({0})", X))),
        op("({0} - {1})", op("tf.reduce_sum({0}, -1)", op("tf.exp({0})", X)), op("tf.reduce_sum({0}, 0)", Y)),
        op("tf.argmax({0}, -1)", op("tf.nn.softmax({0})", op("tf.tanh({0})", X))),
    ],
    ids=str,
)
def test_programs_that_make_rounding_large_do_not_differ(judge, root):
    random = np.random.default_rng(1)
    draws = [tuple(random.uniform(-4, 4, (6, 6)).astype(np.float32) for _ in "xy") for _ in range(4)]
    every = judge.differences(Program(root, ("float32", "float32")), draws, ("function", "xla"))
    assert every == {"function": [], "xla": []}


def test_a_planted_fault_is_a_difference_in_its_modes(planted_judge):
    program = Program(op("tf.square({0})", op("tf.floor({0})", X)), ("float32",))
    every = planted_judge.differences(program, [(np.float32([[1.5, 5.5]]),)], ("function", "xla"))
    assert [d.kind for d in every["function"]] == [d.kind for d in every["xla"]] == ["value"]


def test_a_program_that_eager_mode_refuses_is_none(judge):
    program = Program(op("tf.matmul({0}, {1}, transpose_b=True)", X, Y), ("float32", "float32"))
    assert judge.differences(program, [(np.ones((2, 3), np.float32), np.ones((2, 4), np.float32))], ("xla",)) is None
