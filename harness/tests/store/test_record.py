"""What was written comes back; what was cut or damaged is noticed; reading twice changes nothing."""

import math

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import pack, unpack
from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.harness.store.run_directories.rundir import create, open_shard
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard, read_shard

CELL = {"case": "a-float32-b", "device": "cpu", "mode": "xla"}
ROW = Record(case="a-float32-b", device="cpu", mode="xla", max_ulp=math.inf, max_abs=math.nan, verdict="mismatch")


def test_the_columns_are_those_that_other_tools_read():
    columns = (
        "run started tf cuda host suite spec raw_op case dtype recipe seed device mode ran_on against quantity verdict "
        "kind size mismatched max_ulp max_abs budget worst_index input got want detail owner reason link seconds "
        "rerun example_index example distance attrs cause severity kinds planted unseen"
    )
    assert " ".join(COLUMNS) == columns


def test_a_record_survives_its_shard_non_finite_floats_included(tmp_path):
    shard = Shard(tmp_path / "a.jsonl")
    shard.write("result", **CELL, records=[ROW.to_json()])
    shard.close()
    (line,) = read_shard(tmp_path / "a.jsonl")
    assert repr(Record.from_json(line["records"][0])) == repr(ROW)


def written(tmp_path):
    directory = create(tmp_path, chosen=tmp_path / "run")
    shard = open_shard(directory, "gw0")
    shard.write("plan", items=["a-float32"])
    shard.write("start", **CELL, at=0.0)
    shard.write("result", **CELL, records=[ROW.to_json()], observation={})
    shard.write("compare", **CELL, records=[])
    shard.close()
    return directory


def test_a_run_can_be_read_twice(tmp_path):
    directory = written(tmp_path)
    once, twice = merge([directory]), merge([directory, directory])
    assert len(once.records) == len(twice.records) == 1
    assert once.done == twice.done == {tuple(CELL.values())}


def test_a_resumed_run_does_not_count_all_cells_anew_for_each_item(tmp_path):
    merged, cell = merge([written(tmp_path)]), tuple(CELL.values())
    assert merged.done is merged.done
    assert len(merged.records_of([cell])) == 1
    assert merged.records_of([cell, ("another", *cell[1:])]) is None


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_cut_line_is_counted_and_costs_only_itself(tmp_path, cut):
    directory = written(tmp_path)
    (path,) = (directory / "shards").iterdir()
    path.write_bytes(path.read_bytes()[:-cut])
    merged = merge([directory])
    assert merged.damaged == 1
    assert not merged.done
    assert len(merged.records) == 1


def test_a_line_after_a_torn_one_is_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'0000 {"line":"block","lo":')  # as a killed writer leaves it
    shard = Shard(path)
    shard.write("plan", items=["a"])
    shard.close()
    assert list(read_shard(path)) == [None, {"line": "plan", "items": ["a"]}]
    before = path.read_bytes()
    Shard(path).close()
    assert path.read_bytes() == before, "the last line is whole"


class Stingy:
    """A file that takes only a few bytes at a time, as a disk that fills up may."""

    def __init__(self, file):
        self._file = file

    def write(self, data):
        return self._file.write(data[:7])

    def fileno(self):
        return self._file.fileno()


def test_a_line_that_the_system_takes_in_parts_is_whole(tmp_path):
    shard = Shard(tmp_path / "a.jsonl")
    file, shard._file = shard._file, Stingy(shard._file)
    shard.write("plan", items=["a" * 40])
    shard.write("plan", items=["b"])
    file.close()
    lines = list(read_shard(tmp_path / "a.jsonl"))
    assert lines == [{"line": "plan", "items": ["a" * 40]}, {"line": "plan", "items": ["b"]}]


def three_lines(path):
    shard = Shard(path)
    for letter, count in (("a", 1), ("b", 500), ("c", 1)):
        shard.write("plan", items=[letter * count])
    shard.close()


def test_a_line_that_is_too_long_is_one_damaged_line(tmp_path, monkeypatch):
    three_lines(tmp_path / "a.jsonl")
    monkeypatch.setattr("tf_opdiff.harness.store.shards.shard.LINE", 100)
    a, b, c = read_shard(tmp_path / "a.jsonl")
    assert (a["items"], b, c["items"]) == (["a"], None, ["c"])


def test_what_is_beyond_the_largest_size_of_a_shard_is_one_damaged_line(tmp_path, monkeypatch):
    three_lines(tmp_path / "a.jsonl")
    monkeypatch.setattr("tf_opdiff.harness.store.shards.shard.SHARD", 100)
    a, b, rest = read_shard(tmp_path / "a.jsonl")
    assert (a["items"], b["items"], rest) == (["a"], ["b" * 500], None)


def test_a_flipped_bit_is_noticed(tmp_path):
    directory = written(tmp_path)
    (path,) = (directory / "shards").iterdir()
    data = bytearray(path.read_bytes())
    data[data.index(b"mismatch")] ^= 1
    path.write_bytes(data)
    assert (merge([directory]).damaged, len(merge([directory]).records)) == (1, 0)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, np.nan], [np.inf, -0.0]], np.float16),
        np.array([1, 2], ml_dtypes.bfloat16),
        np.array(1 + 2j, np.complex64),
        np.zeros((0, 3), np.int8),
        np.array([True, False]),
        np.array([b"a\0b", b""], object),
    ],
    ids=lambda a: str(a.dtype),
)
def test_an_array_survives_packing(array):
    back = unpack(pack(array))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tolist() == array.tolist() if array.dtype == object else back.tobytes() == array.tobytes()
