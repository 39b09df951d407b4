"""Compressed shards: the same lines come back, damage is seen, and nothing expands without bound."""

import numpy as np
import pyarrow as pa
import pytest

from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.shards import compressed, finished_cells, rewrite_shards
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard, read_shard, texts

ARRAY = pack(np.arange(3.0, dtype="float32"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The directory of a run with two shards, in which the second line of a cell counts."""
    monkeypatch.setattr(compressed, "LEAST", 0)
    (tmp_path / "shards").mkdir()
    for name in ("a", "b"):
        shard = Shard(tmp_path / "shards" / f"{name}.jsonl")
        shard.write("plan", items=["x-float32", f"{name}-float32"])
        for case in range(500):
            cell = {"case": f"x-float32-{case}", "device": "cpu", "mode": "eager"}
            shard.write("start", **cell)
            observation = {"quantities": {"output[0]": {"status": "value", "value": ARRAY, "message": f"{name}{case}"}}}
            shard.write("result", **cell, records=[{"case": cell["case"], "verdict": "match"}], observation=observation)
            shard.write("compare", **cell, records=[])
        shard.close()
    return tmp_path


def compress(run):
    compressed.compress(rundir.shards(run))
    assert {path.suffix for path in (run / "shards").iterdir()} == {".zst"}
    return rundir.shards(run)


def test_the_same_lines_are_read_from_compressed_shards(run):
    before = [list(read_shard(path)) for path in rundir.shards(run)]
    merged, counted = merge([run]), finished_cells.read(run)
    size = sum(path.stat().st_size for path in rundir.shards(run))
    paths = compress(run)
    assert [list(read_shard(path)) for path in paths] == before
    assert merge([run]) == merged
    assert finished_cells.read(run) == counted
    assert sum(path.stat().st_size for path in paths) < size / 10


def test_small_shards_stay_as_they_are(run, monkeypatch):
    monkeypatch.setattr(compressed, "LEAST", 1 << 30)
    compressed.compress(rundir.shards(run))
    assert {path.suffix for path in (run / "shards").iterdir()} == {".jsonl"}


def test_a_shard_that_is_there_both_ways_counts_once(run):
    """As after a process that was killed between the two steps."""
    plain = {path.name: path.read_bytes() for path in rundir.shards(run)}
    compress(run)
    (run / "shards" / "a.jsonl").write_bytes(plain["a.jsonl"])
    assert [path.name for path in rundir.shards(run)] == ["a.jsonl", "b.jsonl.zst"]


def cut(data):
    return data[: len(data) // 2]


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [cut, flipped, lambda data: data[:-1], lambda data: b"", lambda data: data + b"x"])
def test_a_damaged_compressed_shard_is_counted_as_damaged(run, damage):
    path = compress(run)[1]
    path.write_bytes(damage(path.read_bytes()))
    merged = merge([run])
    assert merged.damaged >= 1
    assert all(cell[0].startswith("x-float32-") for cell in merged.results)
    assert finished_cells.read(run).damaged == merged.damaged


def test_a_shard_does_not_expand_without_bound(run):
    path = run / "shards" / "c.jsonl.zst"
    bomb = pa.Codec("zstd").compress(b"\n" * (64 << 20), asbytes=True)
    path.write_bytes(bomb)
    lines = sum(1 for _ in texts(path))
    assert lines <= len(bomb) * compressed.MOST + 1 < 8 << 20
    last = list(texts(path))[-1]
    assert last == (f"{path}, beyond {len(bomb) * compressed.MOST:,} bytes", None)


def test_a_shard_that_would_expand_too_much_stays_plain(run):
    """Otherwise its last lines would count as damaged."""
    shard = Shard(run / "shards" / "c.jsonl")
    for _ in range(20000):
        shard.write("lost", items=["x-float32"] * 20, why="")
    shard.close()
    compressed.compress(rundir.shards(run))
    assert [path.name for path in rundir.shards(run)] == ["a.jsonl.zst", "b.jsonl.zst", "c.jsonl"]
    assert not list((run / "shards").glob("*.tmp"))


def test_lines_of_cases_are_taken_out_and_damage_stays(run):
    paths = compress(run)
    paths[0].write_bytes(cut(paths[0].read_bytes()))
    damaged = merge([run]).damaged
    rewrite_shards.keep(run, {"x-float32-7"})
    merged = merge([run])
    assert {case for case, _, _ in (*merged.results, *merged.compared, *merged.started)} == {"x-float32-7"}
    assert merged.items >= {"x-float32", "b-float32"}
    assert merged.damaged == damaged
