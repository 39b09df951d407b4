"""A planted fault is shrunk to its op, one element and float32; the kind and the mode stay."""

import numpy as np
import pytest

from tf_opdiff.discover.group import Group, data_of
from tf_opdiff.discover.programs.program import Node, Program
from tf_opdiff.discover.programs.shrinking import Example, shrunk

X, Y = Node("x"), Node("y")
FLOOR = Node("tf.floor({0})", (Node("tf.exp({0})", (Y,)),))
ROOT = Node("tf.reduce_sum({0}, -1)", (Node("({0} + {1})", (FLOOR, Node("tf.tanh({0})", (X,)))),))


@pytest.mark.parametrize("form", ["plain", "map_fn"])
def test_a_fault_is_shrunk_to_its_op(planted_judge, form):
    program = Program(ROOT, ("float64", "float64"), form)
    draw = tuple(np.random.default_rng(2).uniform(0.2, 2.5, (5, 7)) for _ in "xy")
    (first,) = planted_judge.differences(program, [draw], ("function",))["function"]
    small, shown = shrunk(planted_judge, Example(program, draw), first)
    assert (shown.kind, shown.mode) == (first.kind, first.mode)
    assert str(small.program.root) == "tf.floor(x)"
    assert small.program.form == "plain"
    assert small.program.dtypes == ("float32",)
    assert small.draw[0].size == 1


def test_a_group_survives_its_data_and_explains_programs_with_its_ops():
    draw = np.float32([[np.nan, -0.0]]), np.zeros((0, 3), np.float32)
    program = Program(Node("tf.floor({0})", (X,)), ("float32",))
    about = {"id": "a", "kind": "value", "mode": "xla", "types": ("Floor",), "got": "1", "want": "0", "seed": 3}
    group = Group(program=program.data(), draw=data_of(draw), **about)
    assert group.example.draw[0].tobytes() == draw[0].tobytes()
    assert group.example.draw[1].shape == (0, 3)
    larger = Program(ROOT, ("float32", "float32"))
    assert group.explains(larger, "value", "xla")
    assert not group.explains(larger, "nan", "xla") and not group.explains(larger, "value", "function")
    assert not group.explains(Program(Node("tf.tanh({0})", (X,)), ("float32",)), "value", "xla")
