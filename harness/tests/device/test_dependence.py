"""Graphs, and ops one by one, show which outputs depend on no input; an output that reads a state is none of them."""

from types import SimpleNamespace

import ml_dtypes  # noqa: F401  the names bfloat16 and int4
import numpy as np
import pytest

from tf_opdiff.harness.device.programs.dependence import Trail, altered, constants


def stateful(op_type):
    return op_type in ("ReadVariableOp", "EagerPyFunc")


def tensor(op_type, *inputs, control=(), dtype="float32"):
    """A tensor of a graph, and the op that makes it."""
    made = SimpleNamespace(dtype=SimpleNamespace(name=dtype))
    made.op = SimpleNamespace(type=op_type, inputs=inputs, control_inputs=[t.op for t in control], outputs=[made])
    made.op.name = f"{op_type}-{id(made)}"
    return made


X = tensor("Placeholder")
CONST = tensor("Const")
BUILT = {
    "the input": (X, False),
    "an op on it": (tensor("Floor", X), False),
    "an op behind that": (tensor("AddV2", CONST, tensor("Floor", X)), False),
    "only control": (tensor("Identity", CONST, control=[tensor("Floor", X)]), False),
    "a constant": (CONST, True),
    "an op on a constant": (tensor("Floor", CONST), True),
    "another placeholder": (tensor("Floor", tensor("Placeholder")), True),
    "a variable": (tensor("ReadVariableOp", tensor("Placeholder", dtype="resource")), False),
    "a captured state": (tensor("TensorListStack", tensor("Placeholder", dtype="variant")), False),
    "a Python function": (tensor("EagerPyFunc"), False),
    "slices": (SimpleNamespace(values=tensor("Gather", CONST)), True),
}


@pytest.mark.parametrize("name", BUILT)
def test_in_a_graph_an_output_is_a_constant_where_no_input_leads_to_it(name):
    output, constant = BUILT[name]
    assert constants([X, output], [X], stateful) == ({1} if constant else set())


def test_op_by_op_an_output_is_a_constant_where_no_input_leads_to_it():
    x, handle = tensor("x"), tensor("handle", dtype="resource")
    trail = Trail([x], stateful)
    floor, const, added, read, drawn, other = (tensor(str(n)) for n in range(6))
    trail.note("Floor", [x], [floor])
    trail.note("Fill", [], [const])
    trail.note("AddV2", [const, floor], [added])
    trail.note("ReadVariable", [handle], [read])
    trail.note("EagerPyFunc", [], [drawn])
    trail.note("Floor", [const], [other])
    assert trail.constants([x, floor, const, added, read, drawn, other]) == {2, 6}


def test_a_program_without_inputs_ignores_none():
    assert constants([CONST], [], stateful) == set()
    assert Trail([], stateful).constants([CONST]) == set()


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "complex64", "int8", "int4", "uint4", "uint64", "bool", "O"]
)
def test_altered_inputs_are_others_of_the_same_shape_and_dtype(dtype):
    x = np.array([[b"a", b"b"]], object) if dtype == "O" else np.array([[1, 1]]).astype(dtype)
    other = altered(x)
    assert (other.shape, other.dtype) == (x.shape, x.dtype)
    assert (other != x).all()
    assert altered(x[:, :0]).shape == (1, 0)
    assert altered(x[0, 0:1].reshape(())).shape == ()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_altered_floats_have_the_other_sign_so_that_a_branch_on_it_is_seen(dtype):
    numbers = np.array([1.0, -1.0, 0.25, -3.0, np.inf]).astype(dtype)
    assert (np.signbit(altered(numbers)) != np.signbit(numbers[::-1])).all()
    assert altered(numbers.sum()) < 0 < altered(-numbers.sum())
