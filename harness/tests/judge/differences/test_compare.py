"""Classes before distances, distances in ULPs, nothing broadcast and nothing forgiven."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.compare import code_in, compare, compare_arrays, illustrated, summary
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.want import Want, result_dtype
from tf_opdiff.harness.spec.spec import Raises

FLOATS = [np.dtype(d) for d in ("float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn")]


def kinds(got, want, dtype="float32", **more):
    dtype = np.dtype(dtype)
    return compare_arrays(np.array(got, dtype), np.array(want, np.float64), dtype, **more).kind


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_an_ulp_is_the_distance_to_the_next_number(dtype):
    values = np.array([1, 1.5, 2, 3, 0.25, 8], dtype)
    following = np.nextafter(values, np.array(100, dtype), dtype=dtype)
    expected = following.astype(np.float64) - values.astype(np.float64)
    assert (ulp_of(values.astype(np.float64), dtype) == expected).all()
    smallest = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    assert ulp_of(np.array([0.0, smallest]), dtype).tolist() == [smallest, smallest]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_neighbour_differs_by_one_ulp_and_is_allowed_by_a_budget_of_one(dtype):
    want = np.array([1.5, -3.0], dtype)
    got = np.nextafter(want, np.array(100, dtype), dtype=dtype)
    found = compare_arrays(got, want, dtype)
    assert (found.kind, found.mismatched, found.max_ulp) == ("value", 2, 1)
    assert compare_arrays(got, want, dtype, budget=1).kind == ""


def test_a_reference_in_long_double_is_wide_and_float64_is_held_against_what_it_can_not_hold():
    third = 1 / np.longdouble(3)
    off = float(abs(third - float(third)) / np.longdouble(2.0**-54))
    found = compare_arrays(np.array([1 / 3]), third[None], np.dtype("float64"), budget=0.5)
    assert (found.kind, found.max_ulp) == ("", off)
    assert 0 < off < 0.5
    above = np.array([np.nextafter(1 / 3, 1)])
    assert compare_arrays(above, third[None], np.dtype("float64"), budget=0.5).kind == "value"
    huge = Want("value", np.array([np.longdouble(2) ** 2000]), np.dtype("float64"))
    assert compare(Result("value", np.array([np.inf])), huge, "output[0]").kind == ""
    assert compare(Result("value", np.array([1.0])), huge, "output[0]").kind == "inf"
    turned = np.array([third + 1j * third])
    assert compare_arrays(turned.astype(complex), turned, np.dtype("complex128"), budget=0.5).kind == ""
    assert result_dtype(third, np.dtype("bfloat16")) == "bfloat16"
    assert [result_dtype(third, np.dtype(d)) for d in ("complex64", "int32")] == ["float32", np.longdouble]
    assert result_dtype(turned, np.dtype("complex64")) == "complex64"


def test_a_wide_reference_is_not_rounded_before_the_distance_is_taken():
    found = compare_arrays(np.array([1.0], np.float16), np.array([1 + 2.0**-12]), np.dtype("float16"))
    assert found.max_ulp == 0.25


@pytest.mark.parametrize(
    ("got", "want", "kind"),
    [
        ([np.nan], [np.nan], ""),
        ([np.nan], [1.0], "nan"),
        ([0.0], [np.nan], "nan"),
        ([np.inf], [np.inf], ""),
        ([-np.inf], [np.inf], "inf"),
        ([np.finfo(np.float32).max], [np.inf], "inf"),
        ([np.inf], [float(np.finfo(np.float32).max)], "inf"),
        ([-0.0], [0.0], "signed_zero"),
        ([0.0], [1e-40], "subnormal"),
        ([-0.0], [1e-40], "value"),
        ([0.0], [1.0], "value"),
    ],
)
def test_the_class_of_each_element_comes_before_distances(got, want, kind):
    assert kinds(got, want, budget=1e9 if kind not in ("value", "subnormal") else 0) == kind


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_a_zero_of_either_sign_is_right_where_the_promise_says_so_and_only_a_zero(dtype):
    zeros = np.array([0.0, -0.0, 1.0], dtype)
    want = Want("value", -zeros, np.dtype(dtype))
    free = Want("value", -zeros, np.dtype(dtype), unsigned_zeros=True)
    assert compare(Result("value", -zeros), free, "output[0]").kind == ""
    got = np.array([0.0, -0.0, -1.0], dtype)
    assert compare(Result("value", got), want, "output[0]").kind == "signed_zero"
    assert compare(Result("value", got), free, "output[0]").kind == ""
    assert compare(Result("value", np.array([0.0, 1e-3, -1.0], dtype)), free, "output[0]").kind == "value"


def test_a_shape_is_never_broadcast():
    one, three = np.ones(1, np.float32), np.ones(3, np.float32)
    assert compare_arrays(one, three, three.dtype).kind == "shape"
    assert compare_arrays(one.reshape(()), one, one.dtype).kind == "shape"


def test_an_integer_in_another_dtype_is_a_difference():
    assert compare_arrays(np.ones(2, np.int64), np.ones(2, np.int32), np.dtype("int32")).kind == "dtype"


def test_integers_beyond_float64_are_compared_exactly():
    big = 2**62
    found = compare_arrays(np.array([big + 1]), np.array([big]), np.dtype("int64"))
    assert (found.kind, found.max_abs, found.index) == ("value", 1, (0,))


def test_of_a_complex_number_the_part_that_is_nearest_to_what_is_allowed_is_told():
    want = np.array([1 + 1e-20j], np.complex128)
    got = want.astype(np.complex64) + np.complex64(2.0**-23)
    found = compare_arrays(got, want, np.dtype("complex64"), bound=np.array([2.0**-22]))
    assert (found.kind, found.max_ulp, found.budget) == ("", 1.0, 2.0)
    turned = compare_arrays(1j * got, 1j * want, np.dtype("complex64"), bound=np.array([2.0**-22]))
    assert (turned.kind, turned.max_ulp, turned.budget) == ("", 1.0, 2.0)


def test_complex_numbers_are_compared_by_component():
    want = np.array([1 + 2j, complex(0, -0.0)], np.complex64)
    assert compare_arrays(want, want, want.dtype).kind == ""
    assert compare_arrays(want.conj(), want, want.dtype).kind == "signed_zero"
    nan = np.array([complex(1, np.nan)], np.complex64)
    assert compare_arrays(np.array([complex(2, np.nan)], np.complex64), nan, nan.dtype).kind == "value"
    assert compare_arrays(np.array([complex(np.nan, 1)], np.complex64), nan, nan.dtype).kind == "nan"


def test_byte_strings_are_compared_whole():
    want = np.array([b"a\0", b"b"], object)
    assert compare_arrays(want, want.copy(), want.dtype).kind == ""
    assert compare_arrays(np.array([b"a", b"b"], object), want, want.dtype).kind == "value"


def test_an_element_must_break_budget_and_bound():
    assert kinds([1.001], [1.0], bound=np.array(0.01)) == ""
    assert kinds([1.001], [1.0], bound=np.array(0.0001)) == "value"
    assert kinds([1.001], [1.0], bound=np.array(np.nan)) == "value"


def test_the_worst_element_is_named_with_what_came_and_what_was_wanted():
    found = compare_arrays(np.array([[1, 2], [3, 9]], np.float32), np.array([[1, 2.5], [3, 4.0]]), np.dtype("float32"))
    assert (found.index, found.got, found.want, found.mismatched, found.size) == ((1, 1), "9.0", "4.0", 2, 4)


ARRAY = np.ones(3, np.float32)
VALUE, WANT = Result("value", ARRAY), Want("value", ARRAY, ARRAY.dtype)
INDICES = np.array([0, 2, 2])
SLICES = Result("sparse", ARRAY, INDICES, (5,))


@pytest.mark.parametrize(
    ("got", "want", "kind"),
    [
        (VALUE, WANT, ""),
        (Result("unconnected"), Want("unconnected"), ""),
        (Result("unconnected"), WANT, "gradient_status"),
        (VALUE, Want("unconnected"), "gradient_status"),
        (Result("value", ARRAY * 0), WANT, "gradient_status"),
        (SLICES, WANT, "gradient_status"),
        (SLICES, Want("sparse", ARRAY, ARRAY.dtype, INDICES, (5,)), ""),
        (SLICES, Want("sparse", ARRAY, ARRAY.dtype, INDICES[::-1], (5,)), "value"),
        (SLICES, Want("sparse", ARRAY, ARRAY.dtype, INDICES, (6,)), "shape"),
        (SLICES, Want("sparse", 2 * ARRAY, ARRAY.dtype, INDICES, (5,)), "value"),
        (Result("error", code="INTERNAL"), WANT, "status"),
        (VALUE, Want("error", raises=Raises("INTERNAL")), "status"),
        (Result("error", code="INTERNAL"), Want("error", raises=Raises("INTERNAL")), ""),
        (Result("error", code="ABORTED"), Want("error", raises=Raises("INTERNAL")), "error_code"),
        (Result("error", code="INTERNAL", message="a"), Want("error", raises=Raises("INTERNAL", "b")), "error_code"),
        (Result("crash", code="SIGABRT"), WANT, "crash"),
        (Result("crash", code="SIGABRT"), Want("error", raises=Raises("SIGABRT")), "crash"),
        (Result("hang"), Want("unconnected"), "hang"),
    ],
)
def test_statuses_are_compared_and_never_turned_into_one_another(got, want, kind):
    assert compare(got, want, "grad[0]").kind == kind


@pytest.mark.parametrize(
    ("dtype", "got", "want"),
    [
        ("float32", 5.911953, 5.911952883),
        ("bfloat16", 5.90625, 5.911953),
        ("float16", 0.1, 0.1),
        ("float8_e5m2", 3.0, 3.1),
        ("complex64", 0.1 + 1j, 0.1 + 1j),
        ("complex128", np.clongdouble(0.1) + 1j, np.clongdouble(1) / 10 + 1j),
        ("float64", 1 / 3, 1 / np.longdouble(3)),
    ],
)
def test_two_numbers_that_differ_look_different(dtype, got, want):
    want = np.asarray(want)
    wide = np.array([want if want.dtype.itemsize > 8 else want + want * 2.0**-40])
    found = compare_arrays(np.array([got]).astype(dtype), wide, np.dtype(dtype))
    assert found.kind == "value"
    assert found.got != found.want
    assert (found.simplest.got, found.simplest.want) == (found.got, found.want)


def test_bits_tell_numbers_apart_that_print_alike():
    one, other = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)
    assert wording.pair(one, other, other) == ("nan (0x7fc00000)", "nan (0x7fc00001)")


@pytest.mark.parametrize(
    ("got", "want", "kind", "said"),
    [
        (1 + 2.0**-22, 1.0, "value", "2 ULP, 1 allowed"),
        (1e30, 1.0, "value", "1e+30 times the expected number"),
        (1.5, 1.0, "value", "a relative error of 0.5"),
        (-3.0, 1.0, "value", "the wrong sign"),
        (0.25, 0.0, "value", "an absolute error of 0.25"),
        (0.0, 3.0, "value", "a relative error of 1"),
        (np.nan, 1.0, "nan", ""),
        (np.inf, 1.0, "inf", ""),
        (-0.0, 0.0, "signed_zero", ""),
        (0.0, 1e-40, "subnormal", ""),
    ],
)
def test_a_distance_is_told_where_one_makes_sense_and_of_the_element_that_is_shown(got, want, kind, said):
    beside = np.array([got, 2 + 2.0**-20], np.float32)  # another element, that is off as well
    found = compare_arrays(beside, np.array([want, 2.0]), np.dtype("float32"), budget=1)
    shown = compare_arrays(beside[:1], np.array([want]), np.dtype("float32"), budget=1)
    assert (found.kind, shown.kind, shown.distance) == (kind, kind, said)
    assert kind == "value" or not found.distance


def test_the_worst_of_many_tiny_differences_is_the_largest():
    got, want = np.zeros(3, np.float32), np.array([1e-60, 3e-60, 2e-60])
    assert compare_arrays(got, want, np.dtype("float32")).index == (1,)


@pytest.mark.parametrize(
    ("plain", "shown"),
    [(np.array([1.0, -2.0, 3.0]), 1), (np.array([1.0, 2.0, 3.0]), 0), (None, 0)],
)
def test_the_telling_element_of_a_contract_is_one_where_the_promise_is_not_the_references(plain, shown):
    promise = np.array([1.0, 2.0, 3.0], np.float32)
    want = Want("value", promise.astype(np.float64), promise.dtype, plain=plain)
    found = illustrated(Comparison(size=3), Result("value", promise), want, (promise,))
    assert (found.kind, found.index, found.got, found.want) == ("", (shown,), str(promise[shown]), str(promise[shown]))


def test_without_a_reference_a_special_number_tells_most():
    promise = np.array([1.0, np.nan, 0.5], np.float32)
    want = Want("value", promise.astype(np.float64), promise.dtype)
    assert illustrated(Comparison(), Result("value", promise), want, (promise,)).index == (1,)


def test_a_promised_error_is_told_where_it_came():
    want = Want("error", raises=Raises("INVALID_ARGUMENT"))
    found = illustrated(Comparison(), Result("error", code="INVALID_ARGUMENT"), want, ())
    assert (found.got, found.want) == ("error INVALID_ARGUMENT", "error INVALID_ARGUMENT")


@pytest.mark.parametrize("result", [Result("error", code="INTERNAL"), Result("crash", code="SIGSEGV"), Result("hang")])
def test_the_code_of_a_failure_is_read_from_its_summary(result):
    assert code_in(summary(result)) == result.code


@pytest.mark.parametrize("text", ["", "value float32[3]", "unconnected", "error", "error A B", "1.5"])
def test_another_text_has_no_code(text):
    assert code_in(text) == ""


def test_a_result_of_another_shape_than_the_promise_is_compared_with_another_plans_result():
    """Two plans may agree on a wrong shape: the bound, which has the promised shape, is then as wide as its widest."""
    want = Want("value", np.zeros(3), np.dtype("float32"), bound=np.array([0.0, 0.5, 0.25]))
    one, other = (Result("value", np.asarray(value, np.float32)) for value in (1.0, 1.25))
    for result, kind in ((other, ""), (Result("value", np.asarray(3.0, np.float32)), "value")):
        assert compare(result, want.from_other(one, want), "grad[0]").kind == kind


@pytest.mark.parametrize("shape", [(), (3,), (1,), (2, 1), (2, 3)])
def test_a_bound_that_fits_a_result_of_another_plan_stays(shape):
    bound = np.full(shape, 0.5)
    want = Want("value", np.zeros((2, 3)), np.dtype("float32"), bound=bound)
    result = Result("value", np.zeros((2, 3), np.float32))
    assert np.array_equal(want.from_other(result, want).bound, 2 * bound)


def test_the_worst_element_of_a_class_is_the_one_that_is_farthest_off():
    found = compare_arrays(np.zeros(3, np.float32), np.array([1e-45, 5e-39, 1e-40]), np.dtype("float32"))
    assert (found.kind, found.mismatched, found.index) == ("subnormal", 3, (1,))
