"""Tests of errors and error frames."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.reports.data.figures.error_frames import BINS, PROFILE, STEPS
from tf_opdiff.reports.data.run_data import parquet, run_copy
from tf_opdiff.reports.tests.planted import synthetic

ITEM = ["spec", "dtype", "attrs", "device", "mode", "quantity"]
SESSION = "tf_opdiff.harness.tests.planted_runs.planted_session"


@pytest.fixture(scope="module")
def planted(shared_run: Callable[..., Any]) -> Path:
    """A real run of an op that is wrong for one number, of one that dies, and of one of integers."""
    outcome = shared_run(suites="tf_opdiff.harness.tests.planted_sweeps.planted_errors")
    assert outcome.status == 1, outcome.output
    return Path(outcome.directory)


def sizes(run: Path) -> dict[Any, int]:
    """The number of elements that were compared with NumPy, by the columns of `ITEM`."""
    records = reports.load(run)
    compared = records[(records["against"] == "numpy") & records["max_ulp"].notna() & (records["size"] > 0)]
    compared = compared[compared["spec"] != "integers"]
    return dict(compared.groupby(ITEM, observed=True)["size"].sum().items())


def elements(errors: pd.DataFrame) -> dict[Any, int]:
    """The number of profiled elements, by the columns of `ITEM`."""
    return dict(errors.groupby(ITEM, observed=True)["elements"].sum().items())


def test_a_wrong_kernel_value_raises_exactly_one_bin_under_each_plan(planted: Path) -> None:
    errors = reports.load_errors(planted)
    wrong = errors[errors["spec"] == "wrong-once"]
    raised = wrong[wrong["max_ulp"] > 0]
    assert set(zip(raised["argument_class"], raised["sign"], raised["exponent"], strict=True)) == {("normal", -1, 2)}
    assert sorted(zip(raised["dtype"], raised["mode"], raised["mismatched"], strict=True)) == sorted(
        (dtype, mode, count) for dtype, count in (("float16", 2), ("float32", 1)) for mode in wrong["mode"].unique()
    )  # the sweep of float16 has that number too
    assert raised["max_ulp"].tolist() == [3 / 2.0**-8] * 4 + [3 / 2.0**-21] * 4  # of -6, which is below 2^3
    assert set(raised["argument"]) == {"input[0]"} and not wrong["wrong"].any()
    histogram = reports.load_error_histogram(planted)
    beyond = histogram[(histogram["spec"] == "wrong-once") & (histogram["up_to"] > 0)]
    assert set(zip(beyond["dtype"], beyond["up_to"], beyond["elements"], strict=True)) == {
        ("float16", 1024.0, 2),
        ("float32", 2.0**23, 1),
    }


def test_the_elements_are_those_of_the_records(planted: Path) -> None:
    expected = sizes(planted)
    assert max(expected.values()) > 1 << 16, "a sweep is among them"
    assert elements(reports.load_errors(planted)) == elements(reports.load_error_histogram(planted)) == expected


def test_what_gave_no_value_and_what_has_no_distance_have_no_rows(planted: Path) -> None:
    records, errors = reports.load(planted), reports.load_errors(planted)
    crashed = records[records["kind"] == "crash"]
    assert set(crashed["spec"]) == {"dies"} and "eager" in set(crashed["mode"])
    assert not ((errors["spec"] == "dies") & (errors["mode"] == "eager")).any()
    assert "integers" in set(records["spec"]) and "integers" not in set(errors["spec"])


def test_profiles_outlive_a_killed_worker(shared_run: Callable[..., Any]) -> None:
    run = Path(shared_run("-n", "2", "--mode", "eager", suites=SESSION).directory)
    found = elements(reports.load_errors(run))
    assert {spec for spec, *_ in found} == {f"fine-{n}" for n in range(6)}
    assert found == sizes(run)


def test_a_run_that_was_cut_off_has_the_profiles_of_its_whole_lines(planted: Path, tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    (shard,) = (planted / "shards").iterdir()
    lines = shard.read_bytes().splitlines(keepends=True)
    results = [number for number, line in enumerate(lines) if b'"line":"result"' in line]
    cut = results[len(results) // 2]
    (tmp_path / "shards" / "a.jsonl").write_bytes(b"".join(lines[:cut]) + lines[cut][:-9])
    found = elements(reports.load_errors(tmp_path))
    assert found == sizes(tmp_path)
    assert 0 < len(found) < len(elements(reports.load_errors(planted)))


def test_a_shard_that_is_there_twice_and_a_copy_of_a_run_give_the_same_profiles(planted: Path, tmp_path: Path) -> None:
    run_copy.copy(planted, tmp_path / "copy")
    (shard,) = (tmp_path / "copy" / "shards").iterdir()
    shutil.copy(shard, shard.with_name(f"again-{shard.name}"))
    for load in (reports.load_errors, reports.load_error_histogram):
        pd.testing.assert_frame_equal(load(tmp_path / "copy"), load(planted))


def with_profiles(directory: Path) -> Path:
    """A made-up run, closed, with a profile in each cell."""
    rows = synthetic.records([("rounding", "floor")], ["cpu"], ["edges", "plain"])
    bins = np.array([[2, 2], [-1, 1], [0, 0], [60, 7], [0, 1], [0, 3]], np.int64)
    profile = ErrorProfile("input[0]", 1.5, bins, np.array([0.5, np.nan]), np.bincount([1, 36], [60, 7]).astype(int))
    info = synthetic.write(directory, rows, errors={"output[0]": profile.to_json()})
    reports.write(directory, info)
    return directory


def test_profiles_are_summed_over_recipes(tmp_path: Path) -> None:
    errors = reports.load_errors(with_profiles(tmp_path))
    assert list(errors.columns) == [*PROFILE, *BINS] and len(errors) == 4 * 2
    first = errors[errors["mode"] == "eager"]
    assert first[["sign", "elements", "wrong", "mismatched"]].to_numpy().tolist() == [[-1, 120, 0, 0], [1, 14, 2, 6]]
    assert first["max_ulp"].tolist() == [0.5, pytest.approx(np.nan, nan_ok=True)]
    assert set(errors["budget"]) == {1.5} and set(errors["raw_op"]) == {"Floor"}
    histogram = reports.load_error_histogram(tmp_path)
    assert list(histogram.columns) == [*PROFILE, *STEPS]
    first = histogram[histogram["mode"] == "eager"]
    assert first["elements"].tolist() == [120, 14]
    assert first["up_to"].tolist() == [0.5, pytest.approx(np.nan, nan_ok=True)]


def test_shards_and_parquet_give_the_same_profiles(tmp_path: Path) -> None:
    with_profiles(tmp_path)
    loaders = (reports.load_errors, reports.load_error_histogram)
    before = [load(tmp_path) for load in loaders]
    for name in ("records", "errors", "error_histogram"):
        (tmp_path / f"{name}.parquet").unlink()
    for load, frame in zip(loaders, before, strict=True):
        pd.testing.assert_frame_equal(load(tmp_path), frame)


def test_a_run_of_an_older_version_has_empty_tables_with_the_right_columns(tmp_path: Path) -> None:
    with_profiles(tmp_path)
    for name in ("errors", "error_histogram"):
        (tmp_path / f"{name}.parquet").unlink()
    bins, histogram = reports.load_errors(tmp_path), reports.load_error_histogram(tmp_path)
    assert list(bins.columns) == [*PROFILE, *BINS] and list(histogram.columns) == [*PROFILE, *STEPS]
    assert len(bins) == len(histogram) == 0
    assert bins["elements"].dtype == "int64" and bins["max_ulp"].dtype == "float64"
    assert bins["spec"].dtype == "category"


def test_a_run_without_profiles_has_empty_files(run: Path) -> None:
    assert len(reports.load_errors(run)) == len(reports.load_error_histogram(run)) == 0


def test_a_directory_that_is_not_a_run_is_an_error(tmp_path: Path) -> None:
    for load in (reports.load_errors, reports.load_error_histogram):
        with pytest.raises(FileNotFoundError, match="is not the directory of a run"):
            load(tmp_path)


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = with_profiles(tmp_path) / "errors.parquet"
    whole, before, refusals = path.read_bytes(), reports.load_errors(tmp_path), []
    for at in range(0, len(whole), max(1, len(whole) // 200)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        try:
            pd.testing.assert_frame_equal(reports.load_errors(tmp_path), before)
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > 60 and all(str(path) in refusal for refusal in refusals)


def test_a_hostile_file_is_refused(tmp_path: Path) -> None:
    run, elsewhere = with_profiles(tmp_path / "run"), tmp_path / "elsewhere.parquet"
    path, good = run / "errors.parquet", reports.load_errors(run)
    for column, value in {"argument_class": "huge", "sign": "1", "elements": 1.5, "spec": None}.items():
        parquet.write(good.astype({column: object}).assign(**{column: [value] * len(good)}), path)
        with pytest.raises(ValueError, match=rf"errors\.parquet: .*{column}"):
            reports.load_errors(run)
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(ValueError, match="link"):
        reports.load_errors(run)


def test_a_line_with_a_changed_profile_counts_as_damaged(tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])
    profile = ErrorProfile("x", 0.0, np.full((6, 1), 1), np.zeros(1), np.array([1])).to_json()
    synthetic.write(tmp_path, rows, errors={"output[0]": profile | {"histogram": [2]}})
    assert len(reports.load_errors(tmp_path)) == 0
