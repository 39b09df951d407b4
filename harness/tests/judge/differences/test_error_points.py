"""Errors for plots: of the elements that are finite, with their sign, few of many and the worst among them."""

import numpy as np

from tf_opdiff.harness.judge.differences.error_points import MOST, points
from tf_opdiff.harness.judge.promises.want import Want

F32 = np.dtype("float32")


def test_errors_are_in_ulps_and_have_a_sign():
    x = np.array([1, 2, 3, np.nan, np.inf], np.float32)
    want = Want("value", np.array([1.0, 2.0, 4.0, 1.0, np.inf]), F32)
    got = np.array([1 + 2.0**-23, 2, 4 - 2.0**-21, 1, np.inf], np.float32)
    assert points(x, got, want) == ([[1.0, 2.0, 3.0], [1.0, 0.0, -1.0]], {})


def test_of_many_elements_some_are_taken_and_the_worst_one():
    x = np.arange(10_001, dtype=np.float32)
    got = x.copy()
    got[7777] += 64
    (given, ulps), marked = points(x, got, Want("value", x.astype(np.float64), F32), {"simplest": 8888, "worst": 7777})
    assert len(given) <= MOST + 2
    assert marked == {"simplest": [8888.0, 0.0], "worst": [7777.0, 64 / 2.0**-11]}
    assert 8888.0 in given
    assert (given[0], given[-1]) == (0.0, 10_000.0)
    assert max(ulps) == 64 / 2.0**-11
    assert given[ulps.index(max(ulps))] == 7777.0


def test_what_has_no_distance_or_another_shape_has_no_points():
    x = np.zeros(3, np.float32)
    value = Want("value", np.zeros(3), F32)
    assert points(x, None, value)[0] == []
    assert points(x, np.zeros(2, np.float32), value)[0] == []
    assert points(x, np.zeros(3, np.float64), value)[0] == []
    assert points(x, x, Want("unconnected"))[0] == []
    assert points(x, np.zeros(3, np.int32), Want("value", np.zeros(3, np.int32), np.dtype("int32")))[0] == []
    assert points(np.full(3, np.nan, np.float32), x, value)[0] == []


def test_an_element_that_has_no_distance_is_not_marked():
    x = np.array([1, np.nan, 3], np.float32)
    drawn, marked = points(x, x, Want("value", x.astype(np.float64), F32), {"simplest": 1, "worst": 2})
    assert (drawn, marked) == ([[1.0, 3.0], [0.0, 0.0]], {"worst": [3.0, 0.0]})


def test_of_many_elements_the_farthest_is_among_those_taken_though_nobody_marked_it():
    x = np.arange(10_001, dtype=np.float32)
    got = x.copy()
    got[7777] -= 64
    ((inputs, ulps), _) = points(x, got, Want("value", x.astype(np.float64), F32))
    assert ulps[inputs.index(7777.0)] == -64 / 2.0**-11
