"""The accounts of a run agree with its merged lines, and hold neither arrays nor matches."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import IdleEntries, Known
from tf_opdiff.harness.store.records.record import VERDICTS, Record
from tf_opdiff.harness.store.run_directories.rundir import create, open_shard
from tf_opdiff.harness.store.shards import finished_cells
from tf_opdiff.harness.store.shards.merged import merge

PLACE = {"tf": "2.21.0", "spec": "floor", "dtype": "float32", "recipe": "plain", "device": "cpu", "quantity": "grad[0]"}
CAUSE = Cause(id="planted", owner="us", reason="A planted fault fails here", link="https://example.org")


def record(verdict: str, *, mode: str = "eager", against: str = "numpy") -> Record:
    kind = "value" if verdict in ("known", "mismatch") else ""
    return Record(**PLACE, mode=mode, against=against, verdict=verdict, kind=kind, max_ulp=float("inf"))


@pytest.fixture
def run(tmp_path):
    """A run of two workers: a cell for each verdict and both modes; some ran twice, and some lines are damaged."""
    directory = create(tmp_path, chosen=tmp_path / "run")
    shards = [open_shard(directory, f"gw{i}") for i in range(2)]
    observation = {"quantities": {"grad[0]": {"status": "value", "value": pack(np.arange(3.0))}}}
    for number, verdict in enumerate(VERDICTS):
        for mode in ("eager", "xla"):
            cell = {"case": f"case-{verdict}", "device": "cpu", "mode": mode}
            shard = shards[number % 2]
            shard.write("start", **cell, at=0.0)
            shard.write("result", **cell, records=[record(verdict, mode=mode).to_json()], observation=observation)
            other = replace(record(verdict, mode=mode), against="cpu/function").to_json()
            shard.write("compare", **cell, records=[other] if mode == "xla" else [])
    shards[0].write("plan", items=["floor-float32", "floor-int8"])
    shards[0].write("lost", items=["floor-int8"], why="its node was lost")
    shards[1].write("item", item="floor-float32", seconds=1.0)
    shards[1].write("cache", read=3, computed=4, off="")
    again = {"case": "case-mismatch", "device": "cpu", "mode": "eager"}
    shards[1].write("result", **again, records=[record("match").to_json()], observation={})
    shards[1].write("compare", case="no-result", device="cpu", mode="eager", records=[record("error").to_json()])
    shards[1].write("result", case="no-comparison", device="cpu", mode="eager", records=[record("match").to_json()])
    shards[1].write("result", case="no-record", device="cpu", mode="eager", records=[])
    shards[1].write("compare", case="no-record", device="cpu", mode="eager", records=[])
    for shard in shards:
        shard.close()
    path = max((directory / "shards").iterdir())
    path.write_bytes(path.read_bytes() + b"0" * 40)
    return directory


def test_the_accounts_of_a_run_are_those_of_its_merged_lines(run):
    merged, present = merge([run]), finished_cells.read(run)
    assert (present.items, present.started, present.done) == (merged.items, merged.started, merged.done)
    assert (present.results.keys(), present.compared.keys()) == (merged.results.keys(), merged.compared.keys())
    assert (present.damaged, present.lost, present.cached) == (1, merged.lost, list(merged.cached))
    assert present.results["case-mismatch", "cpu", "eager"] == {"match"}, "the last of two lines counts"
    assert present.verdicts == {one.verdict for one in merged.records} == {*VERDICTS}
    kept = [one for one in merged.records if one.verdict in finished_cells.KEPT]
    assert list(map(repr, present.records)) == list(map(repr, kept)) and {one.verdict for one in kept} == {
        *finished_cells.KEPT
    }


def test_every_record_is_visited_once(run):
    places = []
    present = finished_cells.read(run, lambda row: places.append((row.verdict, row.plan, row.against)))
    assert len(places) == 3 * len(VERDICTS) + 3
    assert places.count(("known", "cpu/xla", "cpu/function")) == 1
    assert sum(map(len, present.kept.values())) == len(present.records) == 3 * len(finished_cells.KEPT) - 1


def test_entries_without_a_comparison_are_those_that_all_records_give(run):
    selectors = ({"quantity": "grad[0]"}, {"quantity": "output[0]"}, {"against": "itself"}, {"mode": "graph"})
    known = Known(tuple(Entry(spec="floor", kind="value", cause=CAUSE, **each) for each in selectors))
    idle = IdleEntries(known)
    finished_cells.read(run, idle.visit)
    assert idle.lines() == known.idle(merge([run]).records)
    assert [line.split(" ")[1] for line in idle.lines()] == ["2", "3"]


def test_the_observations_of_some_cells_can_be_read_again(run):
    cells = {("case-known", "cpu", "xla"), ("case-mismatch", "cpu", "eager"), ("absent", "cpu", "xla")}
    found = finished_cells.observations(run, cells)
    assert found == {cell: merge([run]).results[cell]["observation"] for cell in sorted(cells)[1:]}
