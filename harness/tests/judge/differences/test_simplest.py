"""A report shows the failing input that a person grasps at a glance."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.simplest import first, keys, of_texts
from tf_opdiff.harness.spec.inputs.recipes import FLOATS

ORDER = [0.0, -0.0, 1.0, -1.0, 2.0, 1000.0, 0.5, -0.5, 1.5, 0.1, -0.2, 0.25, 0.125, 0.3125, 0.7390851332151607]
ORDER += [1e-12, 1e300, np.inf, -np.inf, 5e-324, np.nan]


def sorted_by_first(*columns):
    """The places of the tuples, the simplest first."""
    left, places = np.arange(len(columns[0])), []
    while left.size:
        best = first([np.asarray(c)[left] for c in columns])
        places.append(int(left[best]))
        left = np.delete(left, best)
    return places


def test_numbers_come_in_the_order_that_the_module_states():
    values = np.array(ORDER)
    mixed = np.random.default_rng(1).permutation(len(values))
    assert [int(mixed[i]) for i in sorted_by_first(values[mixed])] == list(range(len(values)))


@pytest.mark.parametrize("dtype", [*FLOATS, "float8_e5m2"])
def test_the_key_of_one_number_sorts_as_many_do(dtype):
    values = np.arange(256, dtype=np.uint8).repeat(np.dtype(dtype).itemsize).view(dtype)[:256]
    order = sorted_by_first(values)
    every = keys([values])
    assert [every[i] for i in order] == sorted(every)
    assert [keys([values[i : i + 1]])[0] for i in order] == sorted(every)


def test_a_tuple_is_as_simple_as_its_least_simple_part():
    x, y = np.array([0.0, 1.0, 0.5]), np.array([0.7390851, 1.0, 2.0])
    assert sorted_by_first(x, y) == [1, 2, 0]
    assert sorted_by_first(x + 1j * y) == [1, 2, 0]


def test_integers_booleans_and_texts_have_an_order_too():
    assert sorted_by_first(np.array([-7, 3, -(2**63)])) == [1, 0, 2]
    assert sorted_by_first(np.array([True, False])) == [1, 0]
    assert sorted_by_first(np.array([b"long", b"", b"a"], object)) == [1, 2, 0]


def test_examples_of_records_sort_by_their_inputs_and_those_without_numbers_come_last():
    texts = ["input -0.5, got -0.0, want -1.0", "input 2, 3, got 5, want 6", "input 1e-40 (0x116c2), got 0, want 1"]
    texts += ["input -inf, got 0, want nan", "input float32[3, 5, 7], 1, got 1, want 2", "got (3,), want (4,)", ""]
    assert sorted(texts, key=of_texts(texts).__getitem__)[:4] == [texts[1], texts[0], texts[3], texts[2]]


@pytest.mark.parametrize("dtype", [np.dtype(d) for d in FLOATS], ids=str)
def test_a_comparison_shows_the_simplest_element_of_the_kind_and_the_worst_one(dtype):
    tiny = float(ml_dtypes.finfo(dtype).smallest_normal)
    x = np.array([2.5, -tiny, -1.75, -0.5, 0.5, -3.0], dtype)
    got, want = np.where(x < 0, np.ceil(x), np.floor(x)).astype(dtype), np.floor(x.astype(np.float64))
    found = compare_arrays(got, want, dtype, inputs=(x,))
    assert (found.kind, found.mismatched, found.simplest.index) == ("value", 3, (3,))
    assert [float(text) for text in (found.simplest.got, found.simplest.want)] == [0.0, -1.0]
    got[0] = np.nan  # a kind that comes first: its elements only
    assert compare_arrays(got, want, dtype, inputs=(x,)).simplest.index == (0,)


def test_inputs_of_other_shapes_leave_the_promise_to_choose():
    want = np.array([[3.25, 7.0], [2.0, 0.0]])
    found = compare_arrays(want.astype("float32") + np.float32(1), want, np.dtype("float32"), inputs=(np.ones(3),))
    assert found.simplest.index == (1, 1)


def test_of_a_complex_result_the_example_is_the_whole_number():
    x = np.array([1.5 + 1j, 2 + 2j], "complex64")
    found = compare_arrays(x.conj(), x.astype("complex128"), x.dtype, inputs=(x,))
    assert (found.kind, found.simplest.got, found.simplest.want) == ("value", "(2-2j)", "(2+2j)")
