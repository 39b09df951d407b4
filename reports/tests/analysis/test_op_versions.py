"""Tests of the stored verdicts on ops under other versions, and of their table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.ops import op_store
from tf_opdiff.reports.analysis.ops.op_versions import OpVersions
from tf_opdiff.reports.tests.planted import synthetic


@pytest.fixture
def row() -> Record:
    """A match of `Floor` with a distance."""
    (first, *_) = synthetic.records([("rounding", "floor_ordinary")], ["cpu"], ["edges"])
    return replace(first, verdict="match", kind="", against="numpy", max_ulp=1.5, budget=4.0, mismatched=0)


def version(row: Record, tf: str, **change: object) -> Record:
    return replace(row, tf=tf, **{"device": f"cpu@{tf}", **change})  # type: ignore[arg-type]


def stored(folder: Path, *rows: Record) -> Path:
    """A file with the verdicts of a run with these records."""
    devices = {
        row.device: {"asked": True, "recorded": f"2031-01-0{i}, run r", "processor": "P"} for i, row in enumerate(rows)
    }
    synthetic.write(folder / "other", rows, devices=devices)
    op_store.store([folder / "other"], folder / "ops.parquet")
    return folder / "ops.parquet"


def test_the_stored_file_has_the_recorded_versions_with_date_and_machine() -> None:
    table = op_store.stored_ops()
    assert list(table.columns) == list(op_store.COLUMNS)
    assert list(dict.fromkeys(table["tf"])) == ["2.18.1", "2.19.1", "2.20.0", "2.21.0"]
    assert set(table["device"]) == {"cpu"} and set(table["mode"]) == {"eager", "function", "graph", "xla"}
    assert not table.duplicated(op_store.KEYS).any() and table["raw_op"].nunique() > 200
    assert table["made"].str.startswith("2026-").all() and (table["machine"] != "").all()
    assert op_store.FILE.stat().st_size < 300_000


def test_versions_stand_in_their_order_and_the_worst_counts(tmp_path: Path, row: Record) -> None:
    old = version(row, "2.9.0", verdict="mismatch", kind="value", max_ulp=9.0)
    path = stored(
        tmp_path, version(row, "2.10.0"), old, replace(old, case="other", verdict="match", kind="", max_ulp=2.0)
    )
    info = synthetic.write(tmp_path / "run", [row])
    table = OpVersions(reports.load(tmp_path / "run"), info, op_store.stored_ops(path)).table(["floor_ordinary"])
    assert table and [(c.tf, c.device, c.own) for c in table.columns] == [
        *(("2.9.0", "cpu", False), ("2.10.0", "cpu", False), (row.tf, "cpu", True))
    ]
    assert table.columns[1].origins == (("2031-01-00, run r", "P"),)
    (only,) = table.rows
    assert [(c.verdict, c.max_ulp) for c in only.cells if c] == [("mismatch", 9.0), ("match", 1.5), ("match", 1.5)]
    assert not only.same


def test_a_mode_that_one_version_lacks_makes_no_difference(tmp_path: Path, row: Record) -> None:
    worse = version(row, "2.9.0", mode="xla", max_ulp=3.0)
    path = stored(tmp_path, version(row, "2.9.0"), worse)
    info = synthetic.write(tmp_path / "run", [row])
    table = OpVersions(reports.load(tmp_path / "run"), info, op_store.stored_ops(path)).table(["floor_ordinary"])
    assert table and [one.same for one in table.rows] == [True]


def test_a_distance_that_a_contract_allows_and_a_comparison_with_another_plan_are_left_out(
    tmp_path: Path, row: Record
) -> None:
    contract = version(row, "2.9.0", verdict="contract", max_ulp=1e6)
    other = version(row, "2.9.0", against="cpu@2.9.0/eager", verdict="mismatch", kind="value", max_ulp=7.0)
    table = op_store.stored_ops(stored(tmp_path, version(row, "2.9.0"), contract, other))
    assert table[["verdict", "max_ulp"]].to_numpy().tolist() == [["contract", 1.5]]


def test_a_file_with_other_columns_is_refused(tmp_path: Path, row: Record) -> None:
    path = stored(tmp_path, version(row, "2.9.0"))
    op_store.parquet_file.write(op_store.stored_ops(path).drop(columns=["machine"]), path)
    with pytest.raises(ValueError, match="machine"):
        op_store.stored_ops(path)
