"""NumPy and the C library measure the same, and a machine without a C compiler uses NumPy."""

import numpy as np
import pytest

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.sweep.measurements import measure
from tf_opdiff.harness.sweep.measurements.segments import Segments
from tf_opdiff.harness.system import compiler

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, 2.0**-126, 3.4028235e38)


def pairs():
    """Results and promises of many sizes: equal, near and far ones, and every pair of special numbers."""
    rng = np.random.default_rng(5)
    bits = np.concatenate([rng.integers(0, 1 << 32, 6000), rng.integers(0, 1 << 24, 500)]).astype(np.uint32)
    x = bits.view(np.float32)
    with np.errstate(all="ignore"):
        value = x.astype(np.float64) * (1 + rng.normal(0, 2.0**-24, x.size))
        got = value.astype(np.float32)
    got.view(np.uint32)[::5] += rng.integers(0, 40, got[::5].size).astype(np.uint32)
    special = np.array(SPECIAL)
    with np.errstate(all="ignore"):
        one, two = (a.ravel() for a in np.meshgrid(special, special))
        return np.concatenate([got, one.astype(np.float32)]), np.concatenate([value, two])


@pytest.mark.parametrize("budget", [0.0, 0.4, 0.5, 1.0, 2.5, 1e6])
@pytest.mark.parametrize("starts", [[0], [0, 1, 3000, 3001, 6500]])
def test_the_library_measures_what_numpy_measures(budget, starts):
    function = measure.compiled()
    if function is None:
        pytest.skip("this machine has no C compiler")
    got, value = pairs()
    with np.errstate(all="ignore"):
        quick = measure.in_c(function, got, value, budget, np.array(starts))
        plain = measure.in_numpy(got, value, budget, np.array(starts))
    for name in ("finite", "rounded", "largest", "rest"):
        assert (getattr(quick, name) == getattr(plain, name)).all(), name
    assert quick.histogram.tolist() == plain.histogram.tolist()
    assert (quick.worst == plain.worst)[plain.largest >= 0].all()
    assert quick.absolute == plain.absolute
    assert quick.total == pytest.approx(plain.total, rel=1e-13)
    assert plain.finite.sum() > 0 and (plain.rest.size > 0)


def test_each_use_goes_through_the_library_if_there_is_a_compiler(monkeypatch):
    x = Bits("float32", 0x3F800000, 0x3F800100).array()
    starts = Segments.of(Bits("float32", 0x3F800000, 0x3F800100)).starts
    calls = []
    monkeypatch.setattr(measure, "in_numpy", lambda *arguments: calls.append(arguments))
    measure.measure(x, x.astype(np.float64), 1.0, starts)
    assert len(calls) == (measure.compiled() is None)


def test_without_a_compiler_numpy_measures(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "cache_folder", lambda: tmp_path / "cache")
    measure.compiled.cache_clear()
    try:
        assert measure.compiled() is None
        x = Bits("float32", 0x3F800000, 0x3F800100).array()
        measured = measure.measure(x, x.astype(np.float64), 0.0, np.zeros(1, np.int64))
        assert (measured.finite.tolist(), measured.rounded.tolist()) == ([256], [256])
    finally:
        measure.compiled.cache_clear()
