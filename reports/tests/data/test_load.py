"""Tests of load, frame and parquet."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.harness.store.records.record import ADDED, COLUMNS, FAILING, VERDICTS, Record
from tf_opdiff.reports.data.figures.tables import rows as rows_of
from tf_opdiff.reports.data.run_data import parquet
from tf_opdiff.reports.data.run_data.frame import array
from tf_opdiff.reports.tests.planted import synthetic


def small(directory: Path, **info: Any) -> Path:
    rows = synthetic.records([("rounding", "floor"), ("gather", "gather_oob")], ["cpu", "gpu:0"], ["edges", "plain"])
    written = synthetic.write(directory, rows, observed=True, **info)
    reports.write(directory, written)
    return directory


def test_columns_are_those_of_the_record_in_order_and_typed(run: Path, rows: list[Record]) -> None:
    found = reports.load(run)
    assert tuple(found.columns) == COLUMNS
    assert len(found) == len(rows)
    assert found["size"].dtype == found["mismatched"].dtype == "int64"
    assert {str(found[name].dtype) for name in ("max_ulp", "max_abs", "budget", "seconds")} == {"float64"}
    assert list(found["verdict"].cat.categories) == list(VERDICTS)
    assert list(found["kind"].cat.categories) == ["", *KINDS]
    assert not found.drop(columns=["max_ulp", "max_abs", "budget"]).isna().any(axis=None)


def test_every_field_comes_back_as_the_record_had_it(run: Path, rows: list[Record]) -> None:
    def key(row: object) -> tuple[str, ...]:
        return tuple(str(getattr(row, n)) for n in ("case", "device", "mode", "quantity", "against"))

    def values(row: object) -> list[object]:
        return ["NaN" if (v := getattr(row, n)) != v else v for n in COLUMNS]

    found = {key(row): values(row) for row in reports.load(run).itertuples()}
    assert found == {key(row): values(row) for row in rows}


def test_shards_and_parquet_give_the_same_data(tmp_path: Path) -> None:
    small(tmp_path)
    records, observations = reports.load(tmp_path), reports.load_observations(tmp_path)
    (tmp_path / "records.parquet").unlink()
    (tmp_path / "observations.parquet").unlink()
    pd.testing.assert_frame_equal(reports.load(str(tmp_path)), records)
    pd.testing.assert_frame_equal(reports.load_observations(str(tmp_path)), observations)


def test_infinities_and_nan_survive(tmp_path: Path) -> None:
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    written = synthetic.write(tmp_path, [replace(row, max_ulp=math.inf, max_abs=-math.inf, budget=math.nan)])
    reports.write(tmp_path, written)
    found = reports.load(tmp_path).iloc[0]
    assert (found["max_ulp"], found["max_abs"]) == (math.inf, -math.inf)
    assert math.isnan(found["budget"])


def test_a_cut_and_a_flipped_shard_line_lose_those_lines_only(tmp_path: Path) -> None:
    rows = [replace(r, against="numpy") for r in synthetic.records([("rounding", "ceil")], ["cpu"], ["edges", "plain"])]
    rows += [replace(r, against="gpu:0/xla") for r in rows]
    synthetic.write(tmp_path, rows, shards=1)
    shard = next((tmp_path / "shards").iterdir())
    lines = shard.read_bytes().splitlines(keepends=True)
    damaged = bytearray(lines[1])
    damaged[len(damaged) // 2] ^= 4
    shard.write_bytes(b"".join([lines[0], bytes(damaged), *lines[2:-1], lines[-1][:-20]]))
    found = reports.load(tmp_path)
    whole = [(r.case, r.mode, r.quantity, r.against) for r in rows if (r.case, r.mode) != (rows[0].case, rows[0].mode)]
    cut = rows[-1]
    whole = [row for row in whole if (row[0], row[1], row[3]) != (cut.case, cut.mode, cut.against)]
    assert sorted(map(tuple, found[["case", "mode", "quantity", "against"]].to_numpy())) == sorted(whole)


def test_a_directory_that_is_not_a_run_is_an_error_not_an_empty_table(tmp_path: Path) -> None:
    for load in (reports.load, reports.load_observations):
        with pytest.raises(FileNotFoundError, match="is not the directory of a run"):
            load(tmp_path)


def test_any_flipped_byte_of_the_parquet_is_harmless_or_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = small(tmp_path) / "records.parquet"
    whole, want = path.read_bytes(), reports.load(tmp_path)
    errors = []
    for at in range(0, len(whole), max(1, len(whole) // 400)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        try:
            found = reports.load(tmp_path)
        except ValueError as error:
            errors.append(str(error))
        else:
            assert found.equals(want)  # `assert_frame_equal` would take as long as the reading
    assert len(errors) > 150 and all(str(path) in error for error in errors)


@pytest.mark.parametrize("name", ["records.parquet", "observations.parquet"])
def test_a_cut_parquet_is_an_error_that_names_the_file(tmp_path: Path, name: str) -> None:
    path = small(tmp_path) / name
    path.write_bytes(path.read_bytes()[:-100])
    load = reports.load if name.startswith("records") else reports.load_observations
    with pytest.raises(ValueError, match=name):
        load(tmp_path)


def test_a_file_from_before_a_column_was_added_has_it_empty(tmp_path: Path) -> None:
    small(tmp_path)
    before = reports.load(tmp_path)
    parquet.write(before.drop(columns=list(ADDED)), tmp_path / "records.parquet")
    found = reports.load(tmp_path)
    assert tuple(found.columns) == COLUMNS
    assert set(found[list(ADDED)].astype(str).to_numpy().ravel()) == {"", "0"}  # no text, and a count of 0
    pd.testing.assert_frame_equal(found.drop(columns=list(ADDED)), before.drop(columns=list(ADDED)))


def test_a_parquet_of_other_columns_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    small(tmp_path)
    (tmp_path / "observations.parquet").replace(tmp_path / "records.parquet")
    with pytest.raises(ValueError, match=r"records\.parquet: has the columns"):
        reports.load(tmp_path)


def test_an_unknown_verdict_is_an_error_that_names_it(tmp_path: Path) -> None:
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    synthetic.write(tmp_path, [replace(row, verdict="passed")])
    with pytest.raises(ValueError, match=r"'passed'.*expected match"):
        reports.load(tmp_path)


ARRAYS = {
    "float32": np.array([[1.5, -0.0], [np.nan, np.inf]], np.float32),
    "bfloat16": np.array([1.0, -0.0, np.nan], ml_dtypes.bfloat16),
    "complex64": np.array([1 + 2j], np.complex64),
    "bool": np.array(True),
    "empty": np.zeros((0, 3), np.int64),
    "bytes": np.array([b"", b"a\x00b", b"\xff"], object),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_observed_array_comes_back_bit_for_bit(tmp_path: Path, name: str) -> None:
    value = ARRAYS[name]
    result = {"status": "value", "value": pack(value), "indices": None, "shape": None, "code": "", "message": ""}
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    reports.write(tmp_path, synthetic.write(tmp_path, [row], observation={"output[0]": result}))
    found = rows_of(reports.load_observations(tmp_path))[0]
    where = [found[name] for name in ("case", "device", "mode", "quantity")]
    assert where == [row.case, "cpu", row.mode, "output[0]"]
    back = array(found)
    assert back is not None and (back.shape, back.dtype) == (value.shape, value.dtype)
    assert back.tolist() == value.tolist() if name == "bytes" else back.tobytes() == value.tobytes()


def test_sparse_unconnected_and_errors_stay_apart(tmp_path: Path) -> None:
    observation = {
        "grad[0]": {
            "status": "sparse",
            "value": pack(np.ones((2, 3))),
            "indices": pack(np.array([4, 4])),
            "shape": [9, 3],
        },
        "grad[1]": {"status": "unconnected", "value": None, "indices": None, "shape": None},
        "grad[2]": {"status": "error", "value": None, "code": "INVALID_ARGUMENT", "message": "<b>\ud800"},
    }
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    reports.write(tmp_path, synthetic.write(tmp_path, [row], observation=observation))
    sparse, unconnected, error = rows_of(reports.load_observations(tmp_path))
    assert (sparse["shape"], sparse["indices"], sparse["dense_shape"]) == ((2, 3), (4, 4), (9, 3))
    assert unconnected["status"] == "unconnected" and array(unconnected) is None and unconnected["shape"] is None
    assert (error["code"], error["message"]) == ("INVALID_ARGUMENT", "<b>\\ud800")


def test_failing_records_are_found_with_pandas_alone(run: Path, rows: list[Record]) -> None:
    found = reports.load(run).query("verdict in @FAILING", local_dict={"FAILING": list(FAILING)})
    assert len(found) == sum(row.failing for row in rows)
