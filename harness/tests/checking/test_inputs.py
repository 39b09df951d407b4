"""Inputs of a check: domains with their edges, and Python's numbers in TensorFlow's dtypes."""

import numpy as np
import pytest

from tf_opdiff.checking.command import domain
from tf_opdiff.checking.inputs import Inputs, as_source, recipes
from tf_opdiff.harness.spec.inputs.recipes import Draw


@pytest.mark.parametrize(
    "text", ["-3:3", "0:1:4x5", "1e-3:2:8:float64", "-2:9:7:int32", "0:1::float32", "-3:3:9:bfloat16", "0:255:9:uint8"]
)
def test_every_number_lies_in_the_domain(text):
    source = domain(text)
    for edges in (False, True):
        (array,) = Inputs((source,), edges)(Draw(5), np.dtype("float32"))
        assert array.shape == source.shape and array.dtype == source.dtype
        assert ((array >= np.array(source.low, array.dtype)) & (array <= np.array(source.high, array.dtype))).all()


def test_the_edges_hold_the_ends_and_special_numbers():
    (array,) = Inputs((domain("-3:3"),), edges=True)(Draw(5), np.dtype("float32"))
    assert {-3.0, 3.0, 0.0, 1.0, -1.0} <= set(array.tolist())
    assert np.signbit(array[array == 0]).any() and not np.signbit(array[array == 0]).all()


def test_every_case_has_the_same_inputs():
    recipe = recipes([domain("-3:3")])["drawn"]
    one, other = (recipe(Draw(seed), np.dtype("float32"))[0] for seed in (1, 2))
    np.testing.assert_array_equal(one, other)


NUMBERS = [
    (1.5, "float32"),
    (2, "int32"),
    ([1.0, 2.0], "float32"),
    (True, "bool"),
    (np.float64(1), "float64"),
    (1j, "complex128"),
]


@pytest.mark.parametrize(("value", "dtype"), NUMBERS)
def test_numbers_have_the_dtypes_that_tensorflow_gives_them(value, dtype):
    assert as_source(value).dtype == dtype


NO_NUMBERS = ["nan:1", "0:nan", "-inf:inf", "0:1e300", "0:1e400", "-1.7e308:1.7e308:3:float64"]
NO_SIZES = ["0:1:-3", "0:1:0", "0:1:4x0", "0:1:4x-3", "0:1:100000x100000", "0:1:1e9", f"0:1:{10**30}", "0:1:nan"]
NO_INTEGERS = ["0:300:3:uint8", "0.5:0.7:3:int32", "-1:1:3:uint8", "0:1e19:3:uint64", "-1e300:0:3:int64"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "3:1", "a:b", "0:1:4:float32:x", "0:1:4:text", "0:1:4:bool", "0:1:x:y"),
        *(*NO_NUMBERS, *NO_SIZES, *NO_INTEGERS),
    ],
)
def test_a_wrong_input_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"input '.*': expected LOW:HIGH"):
        domain(text)


@pytest.mark.parametrize(
    ("value", "came"),
    [
        ("a", "a str"),
        (b"a", "a bytes"),
        ({"a": 1.0}, "a dict"),
        (None, "a NoneType"),
        (as_source, "a function"),
        ([[1.0, 2.0], [3.0]], "a list whose rows have different lengths"),
        (np.array([{}], object), "an array of object"),
        (["a"], "an array of <U1"),
    ],
)
def test_no_numbers_are_no_input(value, came):
    with pytest.raises(TypeError, match=rf"^check: expected inputs of numbers, .*, got {came}$"):
        as_source(value)
