"""Shards: every item in one of them, alike in length, and none that moves when another is added."""

import random
from types import SimpleNamespace

import pytest

from tf_opdiff.harness.store.shards import partition


def items(*names):
    return [SimpleNamespace(id=name) for name in names]


NAMES = [f"item-{i}" for i in range(300)]


def dealt(names, count, durations):
    return [{i.id for i in partition.shard(items(*names), (n, count), durations)} for n in range(1, count + 1)]


@pytest.mark.parametrize("known", [0, 150, 300])
@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_every_item_is_in_one_shard(count, known):
    parts = dealt(NAMES, count, dict.fromkeys(NAMES[:known], 1.0))
    assert sorted(name for part in parts for name in part) == sorted(NAMES)


def test_an_added_item_moves_no_other():
    durations = {name: random.Random(name).expovariate(1) for name in NAMES}
    before, after = dealt(NAMES, 7, durations), dealt(["new", *NAMES, "newer"], 7, durations)
    assert [part - {"new", "newer"} for part in after] == before


def test_shards_take_as_long_as_each_other_where_durations_are_known():
    durations = {name: random.Random(name).expovariate(1) for name in NAMES}
    loads = [sum(durations[name] for name in part) for part in dealt(NAMES, 4, durations)]
    assert max(loads) / min(loads) < 1.05
    counted = [sum(durations[name] for name in part) for part in dealt(NAMES, 4, {})]
    assert max(loads) < max(counted)


def test_items_keep_their_order():
    durations = {name: random.Random(name).expovariate(1) for name in NAMES}
    found = [i.id for i in partition.shard(items(*NAMES), (2, 3), durations)]
    assert found == [name for name in NAMES if name in set(found)]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/2", "1/99999999999999999999", "1/100001"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(ValueError, match="expected I/N with I from 1 to N"):
        partition.parse(text)


def test_durations_are_read_as_they_were_written(tmp_path):
    partition.write({"b": 1.5, "a": 0.25}, tmp_path / "durations.csv")
    assert partition.read(tmp_path / "durations.csv") == {"a": 0.25, "b": 1.5}
    (tmp_path / "durations.csv").write_text("name,time\na,1\n")
    with pytest.raises(ValueError, match="expected the columns item and seconds"):
        partition.read(tmp_path / "durations.csv")


def test_shards_of_a_run_together_are_the_run(run_pytest):
    suite = "tf_opdiff.harness.tests.planted_runs.planted_kept"
    ran = []
    for n in (1, 2):
        outcome = run_pytest("--shard", f"{n}/2", "--mode", "eager", suites=suite)
        assert outcome.status == 0, outcome.output
        ran.append(set(outcome.merged.items))
    assert not ran[0] & ran[1]
    assert ran[0] | ran[1] == {"kept-float32", "kept-float64", "sums-float32", "large-float32"}
