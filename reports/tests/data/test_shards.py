"""Tests of reading shards into columns, which has to give what merging them gives."""

from __future__ import annotations

import math
import re
import sys
import tracemalloc
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest

from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.harness.store.run_directories.rundir import create, open_shard
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.reports.data.run_data import frame, shards
from tf_opdiff.reports.tests.planted import synthetic


def same(run: Path) -> list[tuple[object, ...]]:
    """The records of a run, once it has been seen that both ways of reading them give the same ones."""
    found = list(frame.records(run).itertuples(index=False, name=None))
    assert sorted(map(repr, found)) == sorted(map(repr, map(attrgetter(*COLUMNS), merge([run]).records)))
    return found


def test_the_records_of_a_run_are_those_that_merging_gives(tmp_path: Path, rows: list[Record]) -> None:
    hard = replace(rows[0], case="hard", max_ulp=math.inf, max_abs=-math.inf, budget=math.nan, detail="a\nb\x00é")
    synthetic.write(tmp_path, [*rows, hard])
    assert len(same(tmp_path)) == len(rows) + 1


def test_of_a_cell_that_was_run_twice_the_last_counts_and_a_comparison_only_beside_a_result(tmp_path: Path) -> None:
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    cell = {"case": row.case, "device": row.device, "mode": row.mode}
    shard = open_shard(create(tmp_path, chosen=tmp_path), "gw0")
    for got in ("first", "last"):
        told = replace(row, got=got, against="numpy").to_json()
        shard.write("result", **cell, records=[told, told | {"quantity": "grad[0]"}], observation={"ran_on": got})
        shard.write("compare", **cell, records=[replace(row, got=got, against="cpu/xla").to_json()])
    shard.write("compare", **cell | {"mode": "xla"}, records=[row.to_json()])
    shard.close()
    found = same(tmp_path)
    assert [one[COLUMNS.index("got")] for one in found] == ["last"] * 3
    assert list(frame.records(tmp_path)["got"].unique()) == ["last"]
    assert shards.observations(tmp_path) == {tuple(cell.values()): {"ran_on": "last"}}


def test_the_texts_of_records_are_not_all_objects_of_python_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = synthetic.records(synthetic.ops(100), ["cpu", "gpu:0"], ["edges", "plain"])
    synthetic.write(tmp_path, rows)
    monkeypatch.setattr(shards, "_PART", 128)
    shards.records(tmp_path)  # imports
    tracemalloc.start()
    try:
        shards.records(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    texts = sum(sys.getsizeof(row.seed) + sys.getsizeof(row.rerun) for row in rows)
    assert peak < 4 * texts  # six times, if each text is an object until the last line is read


@pytest.mark.parametrize("cut", [1, 40])
def test_a_cut_line_costs_only_its_own_records(tmp_path: Path, cut: int) -> None:
    rows = synthetic.records([("s", "op"), ("s", "other")], ["cpu"], ["edges"])
    synthetic.write(tmp_path, [replace(row, against="numpy") for row in rows], shards=1)
    (path,) = (tmp_path / "shards").iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if b'"result"' in line)
    path.write_bytes(b"".join(lines[:last]) + lines[last][:-cut])
    assert len(same(tmp_path)) == len(rows) - 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"colour": "red"}, "line 1: $.records[0]: Object contains unknown field colour"),
        ({"size": "x"}, "line 1: $.records[0].size: Expected int, got str"),
    ],
)
def test_a_line_that_holds_no_record_is_an_error_that_says_why(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    shard = open_shard(create(tmp_path, chosen=tmp_path), "gw0")
    shard.write("result", case=row.case, device="cpu", mode="xla", records=[row.to_json() | change], observation={})
    shard.close()
    with pytest.raises(ValueError, match=re.escape(says)):
        shards.records(tmp_path)
