"""The region of a known failure: which elements a condition is about, and which conditions are refused."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.comparison import Elements
from tf_opdiff.harness.judge.differences.operands import Operands
from tf_opdiff.harness.judge.known_failures.distance_limit import DistanceLimit
from tf_opdiff.harness.judge.known_failures.region import FUNCTIONS, Region, RegionError

X = np.array([-0.0, 0.0, 1e-40, 1.0, -2.0, 3e38, np.inf, np.nan], np.float32)
ONES = np.ones(8, np.float32)


def holds(text, got=ONES, want=ONES, inputs=(X,)):
    return Region.parse(text).holds(got, want, Operands(inputs)).tolist()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", range(8)),
        ("x == 0", [0, 1]),
        ("negative(x)", [0, 4]),
        ("x == 0 and not negative(x)", [1]),
        ("subnormal(x)", [2]),
        ("abs(x) > 2**104", [5, 6]),
        ("nan(x) or inf(x)", [6, 7]),
        ("-3 < x < 0", [4]),
        ("not (x < 0 or x >= 0)", [7]),
        ("x * 2 - 1 == 1", [3]),
        ("x % 2 == 1", [3]),
        ("x == round(x) and abs(x) < 5", [0, 1, 3, 4]),
        ("any(nan(x))", range(8)),
        ("all(nan(x))", []),
        ("size(x) == 8", range(8)),
        ("input[0] == 1", [3]),
    ],
)
def test_a_condition_holds_for_these_elements(text, where):
    assert [i for i, holding in enumerate(holds(text)) if holding] == list(where)


def test_every_function_of_a_condition_takes_an_array_of_each_class_of_dtypes():
    arrays = [np.array([1, 2]), np.array([True, False]), X[:2], X[:2].astype(ml_dtypes.bfloat16), X[:2] + 1j]
    for name in FUNCTIONS:
        for array in arrays:
            assert len(holds(f"{name}(x) == 0", array, array, (array,))) == 2


def test_a_subnormal_number_is_one_of_the_dtype_of_its_array():
    halves = np.array([6e-8, 1e-4], np.float16)
    assert holds("subnormal(x)", halves, halves, (halves,)) == [True, False]
    assert holds("subnormal(x)", halves, halves, (halves.astype(np.float32),)) == [False, False]


def test_powers_and_large_integers_are_exact():
    large = np.array([2**63 - 1, 2**62], np.int64)
    assert holds("x == 2**63 - 1", large, large, (large,)) == [True, False]
    assert holds("abs(x) > 2**104") == [False] * 5 + [True, True, False]


def test_a_part_of_a_complex_number_counts():
    x = np.array([complex(np.nan, 0), complex(0, -0.0), 1j], np.complex64)
    assert holds("nan(x)", x, x, (x,)) == [True, False, False]
    assert holds("negative(imag(x))", x, x, (x,)) == [False, True, False]


def test_an_input_is_seen_element_by_element_if_it_can_be_broadcast():
    column, scalar = np.array([[1.0], [2.0]], np.float32), np.float32(2)
    got = np.zeros((2, 3), np.float32)
    assert holds("x == y", got, got, (column, scalar)) == [[False] * 3, [True] * 3]


def test_an_input_of_another_shape_is_refused_outside_a_reduction():
    with pytest.raises(RegionError, match=r"where 'x > 1': .*broadcast"):
        holds("x > 1", ONES[:3], ONES[:3])
    assert holds("any(x > 1)", ONES[:3], ONES[:3]) == [True] * 3


def test_a_result_can_be_sought_among_the_elements_of_an_input_of_any_shape():
    got = np.array([[3.0], [4.0], [np.nan], [1.0]], np.float32)
    image = np.array([[1, 2, 3], [5, 6, np.nan]], np.float32)
    assert holds("got in x", got, got, (image,)) == [[True], [False], [False], [True]]
    assert holds("(got - want) in x", got, got - 2, (image,)) == [[True], [True], [False], [True]]


@pytest.mark.parametrize("text", ["y == 0", "input[3] > 0", "upstream > 0", "upstream[1] > 0"])
def test_an_absent_input_or_upstream_is_refused(text):
    with pytest.raises(RegionError, match="out of range"):
        holds(text)


UPSTREAMS = (None, np.array([0, 5], np.float32))


def of_gradient(text, own=1, upstreams=UPSTREAMS):
    """The elements of a gradient of two inputs, x = [1, 2] and y = [0, 3], for which a condition holds."""
    x, y = np.float32([1, 2]), np.float32([0, 3])
    return Region.parse(text).holds(x, x, Operands((x, y), upstreams, own)).tolist()


def test_a_gradient_has_an_input_of_its_own():
    assert of_gradient("own == 0") == [True, False]
    assert of_gradient("own == 0", own=0) == [False, False]
    with pytest.raises(RegionError, match="the result is no gradient"):
        of_gradient("own == 0", own=None)


def test_an_upstream_is_seen_element_by_element_and_the_first_one_needs_no_number():
    assert of_gradient("upstream == 0 and own == 0") == [True, False]
    assert of_gradient("upstream == 0", upstreams=(np.float32(0), None)) == [True, True]
    assert of_gradient("upstream[1] == 5") == [False, True]
    with pytest.raises(RegionError, match=r"upstream\[0\] is out of range"):
        of_gradient("upstream[0] == 5")
    with pytest.raises(RegionError, match="broadcast"):
        of_gradient("upstream == 0", upstreams=(np.zeros(3),))
    assert of_gradient("any(upstream == 0)", upstreams=(np.zeros(3),)) == [True, True]


def test_a_condition_may_hold_for_any_or_all_elements_along_an_axis():
    x = np.float32([[np.nan, 1], [2, 3]])
    assert holds("any(nan(x), -1)", x, x, (x,)) == [[True, True], [False, False]]
    assert holds("any(nan(x), 0)", x, x, (x,)) == [[True, False], [True, False]]
    assert holds("all(nan(x) or x == 1, -1)", x, x, (x,)) == [[True, True], [False, False]]


def test_along_an_axis_of_a_sum_its_result_has_no_such_axis():
    x, total = np.float32([[np.nan, 1, 1], [2, 3, 4]]), np.float32([5, 6])
    assert holds("any(nan(x), 1)", total, total, (x,)) == [True, False]


def test_a_mistaken_element_is_rounded_to_the_dtype_of_the_result():
    operands = Operands(mistaken=lambda: np.array([1 / 3, 2.0]))
    thirds = np.float32([1 / 3, 1 / 3])
    assert Region.parse("got == mistaken").holds(thirds, thirds, operands).tolist() == [True, False]


def test_a_mistaken_element_that_no_spec_gives_is_refused():
    with pytest.raises(RegionError, match="there is no spec"):
        holds("got == mistaken")


@pytest.mark.parametrize(
    "text",
    [
        "x >",
        "a == 0",
        "x.shape",
        "x[0]",
        "open('f')",
        "nan(x, x)",
        "abs(v=x)",
        "'t' == x",
        "lambda: x",
        "own[1]",
        "x is y",
        "mistaken[0]",
        "abs(x, 1)",
        "any(x, y)",
        "any(x, 1.0)",
        "got[0]",
        "x if x else x",
    ],
)
def test_what_is_no_condition_of_elements_is_refused_in_one_line(text):
    with pytest.raises(RegionError, match="expected a condition of x, y, z") as refusal:
        Region.parse(text)
    assert "\n" not in str(refusal.value) and repr(text) in str(refusal.value)


def elements(got, want, ulps):
    got, want = np.asarray(got, np.float32), np.asarray(want, np.float32)
    return Elements(got, want, {}, np.asarray(ulps, float), np.abs(got - want).astype(float))


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("", [True, True, True]),
        ("4 ulp", [True, False, True]),
        ("0.5 relative", [True, False, True]),
        ("1e-3 absolute", [False, False, True]),
    ],
)
def test_a_limit_allows_distances_in_its_unit(text, allowed):
    of = elements([110, 4, 1e-30], [100, 2, 1e-30], [3, 5, 0])
    assert DistanceLimit.parse(text).allows(of).tolist() == allowed


@pytest.mark.parametrize("text", ["4096", "4096 units", "-1 ulp", "0 ulp", "nan ulp", "inf relative", "many ulp"])
def test_a_limit_without_a_number_and_a_unit_is_refused(text):
    with pytest.raises(ValueError, match="expected a number and a unit such as '4096 ulp', of ulp, relative, absolute"):
        DistanceLimit.parse(text)
