"""Functions of the Python API: how many are checked, and that each call is one of its own function."""

from contextlib import suppress
from unittest.mock import MagicMock

import numpy as np
import pytest

from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.forms.programs.api import Call, calls, elementwise, fixed, relative

SPECS = Catalog.load("tf_opdiff.suites.programs.api").specs
#: The fewest functions that the specs call.
FUNCTIONS = 100


class StandIn(MagicMock):
    """A stand-in for TensorFlow and for its tensors."""

    __array_ufunc__ = None
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = lambda self, other: self


def called(spec):
    """The functions that a run of the spec must call."""
    return {name for mode in spec.modes for kind, name in spec.evidence_in(mode) if kind == "called"}


def uncalled(spec):
    """The functions that a run of the spec must call, and that its program does not call.

    A call is one in the text of the program or of its state, or one that the program makes of a stand-in for
    TensorFlow: a program may find a function by its name.
    """
    writer = Writer()
    writer.function(spec.program, "program")
    if spec.execution.state:
        writer.function(spec.execution.state, "state")
    unwritten = [f for f in sorted(called(spec)) if f"tf.{f}(" not in writer.text]
    if not unwritten:
        return []
    tf, case = StandIn(), spec.cases()[0]
    with suppress(TypeError, ValueError):  # a stand-in does not say how many outputs it has
        spec.program(tf, *case.inputs(), **case.keywords)
    made = {name for name, _, _ in tf.mock_calls}
    return [f for f in unwritten if f not in made]


def test_many_functions_are_called():
    assert len({name for spec in SPECS.values() for name in called(spec)}) >= FUNCTIONS


@pytest.mark.parametrize("name", SPECS)
def test_a_program_calls_every_function_that_its_spec_names(name):
    assert uncalled(SPECS[name]) == []


def test_a_function_that_is_found_by_its_name_but_not_called_is_reported():
    def by_name(named, found, call):
        return Call(name=named, program=lambda tf, x: call(getattr(tf.math, found), x), reference=np.square)

    parts = (
        by_name("math.square", "square", lambda f, x: f(x)),
        by_name("math.sign", "abs", lambda f, x: f(x)),
        by_name("math.negative", "negative", lambda f, x: x),
    )
    (spec,) = calls("planted", *parts, recipes={"values": fixed(1.0)})
    assert uncalled(spec) == ["math.negative", "math.sign"]


def _case(*parts, **fields):
    (spec,) = calls("planted", *parts, recipes={"values": fixed(1.0, 2.0, -3.0)}, **fields)
    return spec.cases()[0]


SQUARE = elementwise(
    "math.square", lambda tf, x: tf.math.square(x), np.square, lambda x: 2 * x, error=relative(np.square, 1)
)
#: Two outputs; the first has no gradient.
PARTS = Call(
    name="math.frexp",
    program=lambda tf, x: (tf.sign(x), tf.abs(x)),
    reference=lambda x: (np.sign(x), np.abs(x)),
    vjp=lambda g, x: g[1] * np.sign(x),
    outputs=2,
    ulp=3,
)


def test_every_call_has_its_own_inputs_outputs_and_gradient():
    case = _case(SQUARE, PARTS, SQUARE)
    x = case.inputs()[0].astype(np.float64)
    assert len(case.inputs()) == 3
    promise = expectation(case, case.inputs(), None)
    assert list(promise.wants) == [*(f"output[{i}]" for i in range(4)), *(f"grad[{i}]" for i in range(3))]
    g = [np.asarray(u, np.float64) for u in promise.upstreams]
    for quantity, value in {
        "output[2]": np.abs(x),
        "output[3]": x * x,
        "grad[0]": 2 * x * g[0],
        "grad[1]": np.sign(x) * g[2],
        "grad[2]": 2 * x * g[3],
    }.items():
        assert np.array_equal(promise.wants[quantity].value, value), quantity


def test_budgets_and_bounds_belong_to_the_quantities_of_their_call():
    spec = _case(PARTS, SQUARE).spec
    assert [spec.tolerance.ulps(f"output[{i}]", "float32", "eager") for i in range(3)] == [3, 3, 0]
    assert list(spec.tolerance.bound) == ["output[2]"]
    assert spec.tolerance.bound["output[2]"](0.5, None, np.ones(2), np.full(2, 3.0)).tolist() == [4.5, 4.5]


def test_a_call_without_a_gradient_beside_one_with_a_gradient_is_refused():
    lacking = Call(name="math.sign", program=lambda tf, x: tf.math.sign(x), reference=np.sign)
    with pytest.raises(ValueError, match=r"math\.sign: expected a vjp"):
        _case(SQUARE, lacking)


def test_a_number_that_rounds_to_zero_is_a_zero_of_either_sign():
    tiny = elementwise("math.negative", lambda tf, x: -x, lambda x: x * -1e-300, lambda x: -1e-300, signed=False)
    wants = expectation(_case(tiny), _case(tiny).inputs(), None).wants
    assert not np.signbit(wants["output[0]"].value[:2]).any()
    assert not wants["grad[0]"].value.any()


def test_other_dtypes_run_in_the_full_tier():
    first, second = calls("planted", SQUARE, recipes={"values": fixed(1.0)}, more=("float64",))
    assert (first.dtypes, first.tier) == (("float32",), "default")
    assert (second.name, second.dtypes, second.tier) == ("planted-full", ("float64",), "full")


def test_an_error_of_one_call_is_the_promise_of_the_program():
    sign = Call(name="math.sign", program=lambda tf, x: tf.math.sign(x), reference=np.sign)
    refused = Call(name="", program=lambda tf, x: x << 1, reference=lambda x: Raises("TypeError"))
    case = _case(sign, refused)
    assert expectation(case, case.inputs(), None).wants["output[0]"].raises == Raises("TypeError")
