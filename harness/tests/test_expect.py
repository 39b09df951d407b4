"""The reference is wider than the thing tested, and its result stands for the case's dtype."""

import numpy as np
import pytest

from harness.expect import expectation
from harness.inputs import FLOATS, plain
from harness.spec import Raises, Side, Spec


def expected(dtype="float16", side=None, recipe=plain, **more):
    defaults = {"name": "x", "program": len, "reference": np.floor, "recipes": {"plain": recipe}, "ops": ""}
    (case,) = Spec(**defaults | more, dtypes=(dtype,)).cases()
    return expectation(case, case.inputs(), side)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_reference_does_not_share_the_cancellation_of_the_dtype(dtype):
    tiny = 2.0**-20
    found = expected(dtype, recipe=lambda draw, d: (np.full(3, tiny, d),), reference=lambda x: (x + 1) - 1)
    want = found.wants["output[0]"]
    assert want.value.tolist() == [tiny] * 3
    assert want.dtype == np.dtype(dtype)


@pytest.mark.parametrize(("dtype", "wide"), [("complex64", "complex128"), ("bfloat16", "float64"), ("int8", "int8")])
def test_a_reference_gets_floats_wide_and_the_rest_as_it_is(dtype, wide):
    seen = []
    expected(dtype, reference=lambda x: seen.append(x.dtype.name) or x)
    assert seen == [wide]


def test_a_size_of_a_complex_number_comes_in_the_dtype_of_its_parts():
    assert expected("complex64", reference=np.abs).wants["output[0]"].dtype == np.float32


def test_a_dtype_other_than_the_wide_one_stands_for_itself():
    assert expected("float16", reference=lambda x: x > 0).wants["output[0]"].dtype == np.bool_
    assert expected("float16", reference=lambda x: x.astype(np.float32)).wants["output[0]"].dtype == np.float32


def test_upstreams_are_neither_zero_nor_alike_and_the_same_at_every_call():
    first, again = (expected("float32", vjp=lambda g, x: g).upstreams[0] for _ in range(2))
    assert (first == again).all()
    assert np.unique(first).size == first.size
    assert (np.abs(first) >= 0.5).all()
    assert {*np.sign(first).tolist()} == {-1, 1}


def test_a_refusal_asks_for_no_gradient():
    side = Side(reference=lambda x: Raises("INVALID_ARGUMENT"), why="planted")
    found = expected(side=side, vjp=lambda g, x: g)
    assert set(found.wants) == {"output[0]"}
    assert found.upstreams is None
