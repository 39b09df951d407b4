"""The error profiles of sweeps are those of an ordinary comparison of the same elements."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.error_bins import Bins
from tf_opdiff.harness.store.records.error_profile import BIN, ErrorProfile
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.read_lines import read
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep.measurements import tally_rows
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL, SUBNORMAL, pieces
from tf_opdiff.harness.tests.sweep.test_sweep_judging import PLAN, Bits, made, records, swept, values

WHOLE = 0, 1 << 16
THIRD = made(reference=lambda x: x / 3, ulp={"output": 2})


def wrong_in_places(x):
    """A third, in float16, with neighbours of it, other numbers and other classes among them."""
    with np.errstate(all="ignore"):
        got = (x.astype(np.float64) / 3).astype(np.float16)
        rng = np.random.default_rng(3)
        for count, change in ((900, lambda y: np.nextafter(y, np.float16(0))), (40, lambda y: 2 * y)):
            at = rng.choice(x.size, min(count, x.size), replace=False)
            got[at] = change(got[at])
        got[rng.choice(x.size, 9)] = np.nan
        got[rng.choice(x.size, 9)] = np.inf
    return got


def ordinary(recipe, got):
    """The profile of the elements of a recipe, by the comparison of a case."""
    x = Bits("float16", *WHOLE).array()
    at = np.concatenate([np.arange(p.lo, p.hi) for p in pieces("float16", *WHOLE) if p.recipe == recipe])
    with np.errstate(all="ignore"):
        want = x[at].astype(np.float64) / 3
        comparison = compare_arrays(got[at], want, got.dtype, budget=2)
    return Bins.of(x[at]).profile(comparison.distances, argument="input[0]", budget=2)


@pytest.mark.parametrize("block", [None, 1 << 14])
def test_a_sweep_has_the_profile_of_an_ordinary_comparison(block):
    got = wrong_in_places(Bits("float16", *WHOLE).array())
    spans = [WHOLE] if block is None else [(lo, lo + block) for lo in range(0, WHOLE[1], block)]
    blocks = [values(lambda x, span=span: got[slice(*span)], span=span) for span in spans]
    sweep = swept(*blocks, spec=THIRD, span=WHOLE, block=block)
    profile = sweep.swept[PLAN].errors[NORMAL, "output[0]"]
    assert profile.to_json() == ordinary(NORMAL, got).to_json()
    counts = dict(zip(BIN, profile.bins, strict=True))
    (record,) = (r for r in records(sweep) if r.recipe == NORMAL)
    assert (counts["elements"].sum(), counts["mismatched"].sum()) == (record.size, record.mismatched)
    assert np.nanmax(profile.max_ulp) == record.max_ulp


def test_flushed_numbers_have_a_wrong_class_and_are_no_mismatch():
    sweep = swept(
        values(lambda x: np.where(np.abs(x) < 2.0**-14, np.copysign(np.float16(0), x), x), span=WHOLE), span=WHOLE
    )
    profile = sweep.swept[PLAN].errors[SUBNORMAL, "output[0]"]
    elements, wrong, mismatched = profile.bins[3:]
    assert (wrong == elements).all() and not mismatched.any() and np.isnan(profile.max_ulp).all()
    assert profile.histogram[-1] == elements.sum() == 2 * 1023
    normal = sweep.swept[PLAN].errors[NORMAL, "output[0]"]
    assert not normal.max_ulp.any() and not normal.bins[4:].any()


def test_the_lines_of_a_sweep_hold_its_profiles(tmp_path):
    sweep = swept(values(span=WHOLE), span=WHOLE)
    shard = Shard(tmp_path / "a.jsonl")
    tally_rows.write(records(sweep), CellWriter(shard), errors=tally_rows.profiles(sweep))
    shard.close()
    errors = {line["case"]: line["errors"] for line in read(tmp_path / "a.jsonl") if line["line"] == "result"}
    assert errors.keys() == {"x-float16-sweep", "x-float16-sweep_subnormal"}
    sizes = [ErrorProfile.from_json(rows["output[0]"]).histogram.sum() for rows in errors.values()]
    assert sorted(sizes) == [2 * 1023, (1 << 16) - 2 * 1023]


def test_an_error_and_another_shape_have_no_profile():
    assert not swept(values(lambda x: x[:-1])).swept[PLAN].errors
    assert not swept(values(lambda x: x.astype(np.float32))).swept[PLAN].errors
