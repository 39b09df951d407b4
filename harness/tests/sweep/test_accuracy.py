"""The accuracy of a sweep: counts, mean and worst inputs by exponent are those of each element alone."""

import json

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences.difference import differences
from tf_opdiff.harness.judge.differences.error_bins import Bins
from tf_opdiff.harness.store.records.accuracy import Accuracy
from tf_opdiff.harness.store.records.error_profile import PLACE, SUBNORMAL
from tf_opdiff.harness.sweep.measurements.errors import accuracy_of
from tf_opdiff.harness.sweep.measurements.promise import Promise
from tf_opdiff.harness.sweep.measurements.segments import Segments

DTYPES = ["float16", "bfloat16", "float32"]


def around(dtype, place, size=40):
    """Inputs around a bit pattern."""
    most = 1 << 8 * np.dtype(dtype).itemsize
    return Bits(dtype, max(0, place - size), min(most, place + size))


def borders(dtype):
    """The bit patterns at which a class, a sign or an exponent begins."""
    half, least = 1 << (8 * np.dtype(dtype).itemsize - 1), 1 << int(ml_dtypes.finfo(dtype).nmant)
    positive = [0, 2, least, 2 * least, half // 2, half - least]
    return [sign + pattern for sign in (0, half) for pattern in positive]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [1, 3])
def test_segments_are_the_bins_of_the_inputs(dtype, step):
    for place in borders(dtype):
        near = around(dtype, place)
        inputs = Bits(dtype, near.lo, near.hi, step)
        segments, bins = Segments.of(inputs), Bins.of(inputs.array())
        elements = np.diff(segments.starts, append=inputs.size)
        assert (elements > 0).all()
        owner = np.repeat(np.arange(elements.size), elements)
        expected = np.empty((PLACE, inputs.size), np.int64)
        expected[:, bins.order] = np.repeat(bins.place, np.diff(bins.starts, append=inputs.size), axis=1)
        assert (segments.bins[:, owner] == expected).all()


def result_with_faults(value, dtype):
    """A result: mostly the rounded promise, with neighbours, an infinity, a NaN, a zero and a far number among them."""
    got = value.astype(dtype)
    unsigned = got.view(f"u{got.dtype.itemsize}")
    unsigned[3::7] += np.array(1, unsigned.dtype)
    for place, wrong in ((11, np.nan), (12, np.inf), (13, 0.0), (14, 3.0)):
        got[place] = wrong
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bound", [None, 1e-3])
def test_each_figure_is_that_of_the_elements(dtype, bound):
    inputs = around(dtype, (Bits(dtype, 0, 1).array().dtype.itemsize == 4 and 0x3F800000) or 0x3C00, 300)
    x = inputs.array()
    with np.errstate(all="ignore"):
        value = np.exp(x.astype(np.float64) / 4)
        got = result_with_faults(value, x.dtype)
        allowed = None if bound is None else lambda at: bound * np.abs(value[at])
        promise = Promise(value, x.dtype, 0.75, allowed)
        segments = Segments.of(inputs)
        accuracy = accuracy_of(promise.compare(got, None, segments.starts), segments, inputs)
        limit = None if bound is None else bound * np.abs(value)
        plain = differences(got, value, x.dtype, budget=0.75, bound=limit)
    counts = accuracy.counts
    whole = Segments.of(inputs)
    for i, (first, last) in enumerate(zip(whole.starts, [*whole.starts[1:], inputs.size], strict=True)):
        (column,) = np.flatnonzero((accuracy.bins[:PLACE] == whole.bins[:, i : i + 1]).all(0))
        here = slice(first, last)
        right = np.isfinite(got[here].astype(np.float64)) & ~plain.wrong_class[here]
        ulps = plain.ulps[here][right]
        assert counts["inputs"][column] == last - first
        assert counts["finite"][column] == right.sum()
        assert counts["rounded"][column] == (got[here] == value[here].astype(x.dtype)).sum()
        assert counts["wrong"][column] == plain.wrong_class[here].sum()
        assert counts["mismatched"][column] == plain.wrong[here].sum()
        assert accuracy.total[column] == pytest.approx(ulps.sum(), rel=1e-12)
        assert accuracy.largest[column] == pytest.approx(ulps.max(), rel=1e-12)
        worst = int(accuracy.worst[column]) - inputs.lo - first
        assert plain.ulps[here][worst] == pytest.approx(ulps.max(), rel=1e-12)
    assert counts["wrong"].sum() == 2 and counts["mismatched"].sum() >= 4


def test_parts_add_up_to_the_whole_whatever_their_order():
    inputs = around("float16", 0x0400, 200)
    x = inputs.array()
    value = x.astype(np.float64) / 3
    got = value.astype(np.float16)
    got[5::9] = np.nextafter(got[5::9], np.float16(9))

    def of(lo, hi):
        part = Bits("float16", lo, hi)
        segments, here = Segments.of(part), slice(lo - inputs.lo, hi - inputs.lo)
        return accuracy_of(Promise(value[here], x.dtype, 2.0).compare(got[here], None, segments.starts), segments, part)

    whole = of(inputs.lo, inputs.hi)
    parts = [of(*ends) for ends in ((900, 1100), (inputs.lo, 900), (1103, inputs.hi), (1100, 1103))]
    joined = Accuracy.sum([Accuracy.from_json(json.loads(json.dumps(part.to_json()))) for part in parts])
    assert (joined.bins == whole.bins).all() and (joined.worst == whole.worst).all()
    assert (joined.largest == whole.largest).all() and joined.total == pytest.approx(whole.total)
    assert (whole.counts["input_class"] == SUBNORMAL).any()


def test_an_all_wrong_segment_has_no_distance_and_no_worst_input():
    inputs = Bits("float32", 0x40000000, 0x40000010)
    promise = Promise(inputs.array().astype(np.float64), np.dtype("float32"), 1.0)
    segments = Segments.of(inputs)
    difference = promise.compare(np.full(16, np.nan, np.float32), None, segments.starts)
    accuracy = accuracy_of(difference, segments, inputs)
    assert (accuracy.counts["finite"][0], accuracy.counts["wrong"][0]) == (0, 16)
    assert (accuracy.largest[0], accuracy.worst[0], accuracy.total[0]) == (-1, -1, 0)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("bins", lambda a: a[:-1]),
        ("bins", lambda a: a * 9),
        ("bins", lambda a: -a - 1),
        ("distances", lambda a: a * np.nan),
        ("worst", lambda a: a.astype(np.int32)),
    ],
)
def test_a_damaged_accuracy_is_refused(field, change):
    from tf_opdiff.harness.device.observation import pack, unpack

    row = Accuracy(np.full((8, 1), 1, np.int64), np.zeros(1), np.zeros(1), np.zeros(1, np.int64)).to_json()
    assert Accuracy.from_json(row).largest[0] == 0
    row[field] = pack(change(unpack(row[field])))
    with pytest.raises(ValueError, match="accuracy: expected"):
        Accuracy.from_json(row)
