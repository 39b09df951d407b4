"""What specs say that TensorFlow computes wrongly, on small arrays computed by hand."""

import numpy as np
import pytest

from tf_opdiff.suites.ops.image import crop
from tf_opdiff.suites.ops.math.elementary import cast
from tf_opdiff.suites.ops.math.reductions import arg_extreme, reduction
from tf_opdiff.suites.ops.random import generator, numbers
from tf_opdiff.suites.programs.compositions import moves
from tf_opdiff.suites.reference.arrays.blocks import patches_of_xla
from tf_opdiff.suites.reference.neural_networks.largest import Largest, LargestAt, LargestGradient, LargestSecond
from tf_opdiff.suites.reference.neural_networks.local_response import LocalResponse
from tf_opdiff.suites.reference.neural_networks.pooling import Windows
from tf_opdiff.suites.reference.random_numbers.random_bits import mixed
from tf_opdiff.suites.reference.reductions.comparison_sort import first_by_heap

NAN, INF = np.nan, np.inf


def spec(module, name):
    return next(spec for spec in module.SPECS if spec.name == name)


@pytest.mark.parametrize(
    ("window", "index"),
    [
        ([1, NAN, 3, 2], 2),  # comparisons pass over a NaN
        ([NAN, 1, 3, 2], 0),  # and never leave one
        ([NAN, INF, NAN, 1], 0),
        ([-INF, NAN, -INF, NAN], 0),
        ([2, 3, 3, NAN], 1),
    ],
)
def test_the_index_of_a_pool_passes_over_nan_but_not_over_a_first_nan(window, index):
    at = LargestAt(Windows((1, 4), (1, 4)))
    x = np.array([window], float)
    assert at.mistaken.f(x).tolist() == [[index]]
    if np.isnan(x).any():
        assert at.f(x).tolist() == [[int(np.argmax(np.isnan(x)))]]


def test_windows_of_five_dimensions_give_the_upstream_to_every_element_near_the_largest():
    windows, x = Windows((1, 1, 1, 4, 1), (1, 1, 1, 4, 1)), np.array([1, 0.999999, 0.9999, 1]).reshape(1, 1, 1, 4, 1)
    g = np.full((1, 1, 1, 1, 1), 5.0)
    y = np.ones_like(g)
    for gradient in (
        Largest(windows).mistaken.vjp(g, x)[0],
        LargestGradient(windows).mistaken.f(x, g, y),
        LargestSecond(windows).mistaken.vjp(g, x, x, y)[1],
    ):
        assert gradient.ravel().tolist() == [5, 5, 0, 5]
    assert Largest(windows).vjp(g, x)[0].ravel().tolist() == [5, 0, 0, 0]


def test_xla_takes_columns_that_may_lie_in_padding_last():
    x, g = np.zeros((1, 2, 3, 1)), np.array([3.0, 7.0]).reshape(1, 1, 2, 1)
    x[0, 0, 1], x[0, 1, 0] = 1, 1  # equal: a later row, and a later column
    windows = Windows((1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    assert Largest(windows).vjp(g, x)[0].ravel().tolist() == [0, 3, 7, 0, 0, 0]
    assert Largest(windows).mistaken.vjp(g, x)[0].ravel().tolist() == [0, 0, 7, 3, 0, 0]
    valid = Windows((1, 2, 2, 1), (1, 2, 2, 1))
    assert Largest(valid).mistaken.vjp(g[:, :, :1], x)[0].ravel().tolist() == [0, 3, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("row", "k", "indices"),
    [
        ([1, 3, 2, 3], 2, [1, 3]),
        ([NAN, 2, NAN, -1, NAN, 3], 4, [0, 5, 1, 2]),  # as TopKV2 of 2.21 gives them
        ([1, NAN, 2, -1, 0, 2], 4, [1, 2, 5, 0]),
        ([-1, NAN, -1, -1, 3, 0], 4, [4, 5, 0, 1]),
    ],
)
def test_the_largest_numbers_beside_nan_are_those_of_a_heap(row, k, indices):
    assert first_by_heap(np.array([row], float), k).tolist() == [indices]


def test_an_infinity_gets_no_upstream():
    windows, x = Windows((1, 1, 1, 2, 1), (1, 1, 1, 2, 1)), np.array([INF, 1.0]).reshape(1, 1, 1, 2, 1)
    with np.errstate(invalid="ignore"):
        assert not Largest(windows).mistaken.vjp(np.ones((1, 1, 1, 1, 1)), x)[0].any()


@pytest.mark.parametrize(("label", "axis"), [("rows", 1), ("columns", 2), ("nearest", 1)])
def test_the_last_row_of_a_crop_lies_beyond_the_image(label, axis):
    calls = [((1, 4, 3, 1), 22, 1), ((1, 3, 8, 1), 1, 14), ((1, 4, 3, 1), 22, 1)]
    xs = [a for shape, *_ in calls for a in (np.ones(shape), np.array([[0.0, 0, 1, 1]]), np.array([0]))]
    border = spec(crop, "crop-and-resize-border")
    i = ["rows", "columns", "nearest"].index(label)
    right, wrong = (results(*xs)[i] for results in (border.reference, border.mistaken["output"]))
    lost = np.moveaxis(wrong != right, axis, 0)
    assert lost[-1].all() and not lost[:-1].any()


@pytest.mark.parametrize(("name", "index"), [("arg-max-nan", 3), ("arg-min-nan", 2)])
def test_the_index_of_an_extreme_passes_over_nan(name, index):
    row = np.array([[[NAN, 1, 0, 5, NAN]]])
    results = spec(arg_extreme, name).mistaken["output"](*[row] * 4)
    assert results[2].tolist() == [[index]]


def test_squares_that_leave_the_dtype_are_lost_in_local_responses():
    norm, x = LocalResponse(1), np.array([[300.0, 1, 2, 3]])
    with np.errstate(over="ignore", invalid="ignore"):
        result = norm.kernel(x, np.dtype("float16"))
        gradient = norm.kernel_back(np.ones_like(x), x, result, np.dtype("float16"))
    assert np.isnan(result).tolist() == [[False, False, True, True]]  # 0 times the infinite square is NaN
    assert result[0, :2].tolist() == [0, 0]
    assert np.isnan(gradient).any() and np.isfinite(norm.kernel(x, np.dtype("float32"))).all()


def test_patches_of_xla_are_nan_beside_what_is_not_finite():
    x = np.array([1, INF, 2, 3.0, 4, 5]).reshape(1, 1, 3, 2)  # two channels
    rows = patches_of_xla(x, [1, 1, 2, 1], [1, 1, 1, 1], "VALID")
    np.testing.assert_array_equal(rows[0, 0], [[1, INF, 2, NAN], [2, 3, 4, 5]])


def test_nibbles_are_read_from_half_of_the_bytes_and_lie_beside_zeros():
    read = spec(cast, "cast-nibble-to-int8").mistaken["output"]
    assert read(np.array([-8, 7, 3, 1, 2], np.int8)).tolist() == [-8, 0, 7, 0, 3]


def test_the_mean_of_integers_wraps_around():
    x = np.full((2, 2, 2), 2**30, np.int32)
    mean = spec(reduction, "mean-integer")
    last = next(i for i, name in enumerate(mean.names) if name == "last")
    inputs = [x] * len(mean.names)
    assert np.unique(mean.reference(*inputs)[last]).tolist() == [2**30]
    assert np.unique(mean.mistaken["output"](*inputs)[last]).tolist() == [-(2**30)]


def test_extremes_under_xla_are_those_of_the_numbers():
    x = np.where(np.eye(15, dtype=bool), NAN, np.arange(15.0)).astype(np.float32)
    x[:, 4] = NAN
    largest_of_minus_x = moves._REDUCTIONS.index("tf.reduce_max(-x, 0)")
    with np.errstate(all="ignore"):
        result = spec(moves, "compose-reductions").mistaken["output"](x, x)[largest_of_minus_x]
    assert result.tolist() == [-INF if i == 4 else -i for i in range(15)]


def test_grappler_takes_a_monotonic_function_out_of_an_index():
    x = np.zeros((15, 15), np.float32)
    x[3], x[9] = 100, 200  # exp of both is infinite
    of_exp = moves._INDICES.index("tf.argmax(tf.exp(x), 0)")
    chosen = spec(moves, "compose-indices")
    with np.errstate(over="ignore"):
        assert set(chosen.reference(x)[of_exp].tolist()) == {3}
    assert set(chosen.mistaken["output"](x)[of_exp].tolist()) == {9}


def test_xla_drops_the_sign_of_a_seed_and_takes_the_upper_bits_of_a_word():
    seed, unsigned = np.array([-1, 5], np.int32), np.array([2**32 - 1, 5])
    whole = spec(numbers, "stateless-random-uniform-full-int")
    drawn = whole.mistaken["output"](np.array([7]), seed)
    assert drawn.tolist() == whole.reference(np.array([7]), unsigned).tolist()
    assert drawn.tolist() != whole.reference(np.array([7]), seed).tolist()
    floats, other = (spec(numbers, f"stateless-random-uniform{end}") for end in ("", "-of-xla"))
    assert (
        floats.mistaken["output"](np.array([7]), unsigned).tolist() == other.reference(np.array([7]), unsigned).tolist()
    )
    key = spec(generator, "stateless-random-get-key-counter").mistaken["output"](seed)[0]
    assert key.tolist() == mixed(unsigned)[0].tolist()
