"""Error profiles of results in which one thing is wrong, in a known place."""

import math

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.error_bins import Bins, argument_of
from tf_opdiff.harness.store.records.error_profile import (
    BIN,
    CLASSES,
    EDGES,
    INF,
    NAN,
    NORMAL,
    SUBNORMAL,
    ZERO,
    ErrorProfile,
)

RNG = np.random.default_rng(7)


def patterns(dtype, count=3000):
    """Numbers of random bit patterns, which include every class."""
    dtype = np.dtype(dtype)
    x = RNG.integers(0, 1 << 8 * dtype.itemsize, count, f"u{dtype.itemsize}", endpoint=False).view(dtype)
    x[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, float(ml_dtypes.finfo(dtype).smallest_subnormal)
    return x


def profile_of(x, got, want, budget=0.0):
    """The profile of a result; `want` is the exact promise."""
    with np.errstate(all="ignore"):
        comparison = compare_arrays(got, want, got.dtype, budget=budget)
    return Bins.of(x).profile(comparison.distances, argument="input[0]", budget=budget)


def rows(profile):
    """(class, sign, exponent) → the other numbers of a bin."""
    names = [*BIN[3:], "max_ulp"]
    columns = zip(profile.bins.T.tolist(), profile.max_ulp.tolist(), strict=True)
    return {tuple(bin_[:3]): dict(zip(names, (*bin_[3:], ulp), strict=True)) for bin_, ulp in columns}


def same(one, other):
    return one.to_json() == other.to_json()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_each_element_is_in_the_bin_of_its_class_sign_and_exponent(dtype):
    x = patterns(dtype)
    with np.errstate(all="ignore"):
        counts = {}
        for value in x.astype(np.float64).tolist():
            sign = 0 if math.isnan(value) else int(math.copysign(1, value))
            group = NAN if math.isnan(value) else INF if math.isinf(value) else ZERO if not value else NORMAL
            if group == NORMAL and abs(value) < float(ml_dtypes.finfo(dtype).smallest_normal):
                group = SUBNORMAL
            exponent = math.frexp(value)[1] - 1 if group in (NORMAL, SUBNORMAL) else 0
            counts[group, sign, exponent] = counts.get((group, sign, exponent), 0) + 1
        profile = profile_of(x, x.copy(), x.astype(np.float64))
    assert {key: row["elements"] for key, row in rows(profile).items()} == counts
    assert not profile.max_ulp.any() and profile.histogram.tolist() == [x.size] + [0] * len(EDGES)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_planted_wrong_value_raises_exactly_one_bin(dtype):
    x = np.linspace(-9, 9, 501).astype(dtype)
    want = x.astype(np.float64) / 2
    right, got = want.astype(dtype), want.astype(dtype)
    at = int(np.flatnonzero(x > 4)[0])
    got[at] += 3 * np.spacing(got[at])
    before, after = rows(profile_of(x, right, want, budget=1)), rows(profile_of(x, got, want, budget=1))
    raised = {key for key in before if before[key] != after[key]}
    assert raised == {(NORMAL, 1, 2)}
    assert after[NORMAL, 1, 2] == before[NORMAL, 1, 2] | {"max_ulp": 3.0, "mismatched": 1}
    histogram = profile_of(x, got, want, budget=1).histogram
    assert histogram[EDGES.index(4.0)] == 1 and histogram.sum() == x.size


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.0])
def test_a_planted_wrong_class_is_counted_and_has_no_distance(wrong):
    x = np.linspace(1, 9, 50).astype(np.float32)
    x[7], want = -1.5, x.astype(np.float64)
    want[7] = 0.0
    got = want.astype(np.float32)
    got[7] = wrong
    profile = profile_of(x, got, want)
    nan = pytest.approx(math.nan, nan_ok=True)
    assert rows(profile)[NORMAL, -1, 0] == {"elements": 1, "wrong": 1, "mismatched": 1, "max_ulp": nan}
    assert profile.histogram[-1] == 1 and profile.bins[BIN.index("wrong")].sum() == 1


def test_a_flushed_subnormal_number_is_a_wrong_class():
    x = np.float32([1e-40, 1])
    profile = profile_of(x, np.float32([0, 1]), x.astype(np.float64))
    assert [row["wrong"] for row in rows(profile).values()] == [1, 0]


def test_the_edges_belong_to_the_bin_below():
    x = np.ones(6, np.float64)
    got = 1 + np.float64([0, 1, 2, 3, 4, 5]) * np.spacing(1.0)
    counts = dict(zip(EDGES, profile_of(x, got, x).histogram.tolist(), strict=False))
    assert {edge: n for edge, n in counts.items() if n} == {0.0: 1, 1.0: 1, 2.0: 1, 4.0: 2, 8.0: 1}


def test_a_complex_number_is_as_far_off_as_its_worse_part():
    x = np.array([3 + 4j, 3 + 4j, 1e-3j, complex(np.nan, 0)], np.complex64)
    got = x.copy()
    got.real[0] += 2 * np.spacing(np.float32(3))
    got.imag[1] = np.nan
    name, argument = argument_of([x], x)
    profile = profile_of(argument, got, x.astype(np.complex128))
    assert name == "|input[0]|"
    assert {key: (row["elements"], row["wrong"], row["max_ulp"]) for key, row in rows(profile).items()} == {
        (NORMAL, 1, 2): (2, 1, 2.0),
        (NORMAL, 1, -10): (1, 0, 0.0),
        (NAN, 0, 0): (1, 0, 0.0),
    }


def test_the_modulus_of_large_complex_numbers_is_no_infinity():
    largest = np.finfo(np.float64).max
    place = Bins.of(np.array([complex(largest, largest), complex(np.inf, np.nan), 5e-324j])).place
    assert place.T.tolist() == [[SUBNORMAL, 1, -1074], [NORMAL, 1, 1024], [INF, 1, 0]]


def test_the_argument_is_the_first_float_of_the_results_shape_or_the_promise():
    y, n, x, scalar = np.ones(3, np.float32), np.ones(3, np.int32), np.full(3, 2.0), np.float32(1)
    assert argument_of([n, scalar, x, y], y) == ("input[2]", x)
    assert argument_of([n, scalar], y) == ("promise", y)
    assert argument_of([x], y, sparse=True) == ("promise", y)


def test_profiles_of_parts_add_up_to_that_of_the_whole():
    x = patterns(np.float32)
    with np.errstate(all="ignore"):
        want = np.sqrt(x.astype(np.float64))
        got = want.astype(np.float32)
        got[::7] = np.nextafter(got[::7], np.float32(0))
        got[5::50] = np.nan
    whole = profile_of(x, got, want)
    parts = [profile_of(x[part], got[part], want[part]) for part in (slice(900), slice(900, 901), slice(901, None))]
    assert same(parts[0] + parts[1] + parts[2], whole) and same(parts[2] + parts[0] + parts[1], whole)


def test_a_profile_comes_back_from_json():
    x = patterns(np.float16)
    profile = profile_of(x, x[::-1].copy(), x.astype(np.float64), budget=1.5)
    assert same(ErrorProfile.from_json(profile.to_json()), profile)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: {"bins": p.bins[:, :-1]},
        lambda p: {"bins": p.bins.astype(np.int64)},
        lambda p: {"bins": np.where(np.arange(6)[:, None] == 0, np.int32(len(CLASSES)), p.bins)},
        lambda p: {"bins": -p.bins},
        lambda p: {"max_ulp": -1 - p.max_ulp},
        lambda p: {"max_ulp": p.max_ulp.astype(np.float32)},
        lambda p: {"histogram": [1]},
        lambda p: {"histogram": [0] * 99},
    ],
)
def test_a_changed_profile_is_refused(change):
    x = patterns(np.float16)
    profile = profile_of(x, x.copy(), x.astype(np.float64))
    profile = ErrorProfile("x", 0.0, profile.bins.astype(np.int32), profile.max_ulp, profile.histogram)
    changed = {name: v if isinstance(v, list) else pack(np.asarray(v)) for name, v in change(profile).items()}
    with pytest.raises(ValueError, match="error profile: expected"):
        ErrorProfile.from_json(profile.to_json() | changed)
