"""A run whose shards are compressed gives the same tables as before."""

import shutil
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store import compressed, rewrite_shards, rundir, shard, shard_arrays
from tf_opdiff.harness.store.merged import merge
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.data import error_frames, frame, parquet, run_copy


def test_compressed_shards_give_the_same_records_observations_and_errors(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    monkeypatch.setattr(compressed, "LEAST", 0)
    compressed.compress(rundir.shards(copy))
    assert {path.suffix for path in (copy / "shards").iterdir()} == {compressed.SUFFIX}
    assert frame.records(copy).equals(frame.records(run))
    assert frame.observations(copy).equals(frame.observations(run))
    for packed, plain in zip(error_frames.frames(copy), error_frames.frames(run), strict=True):
        assert packed.equals(plain)
    run_copy.copy(copy, tmp_path / "night")
    assert frame.records(tmp_path / "night").equals(frame.records(run))


def test_shards_leave_their_arrays_to_the_observations_and_read_them_there(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    before = {path.name: list(shard.texts(path)) for path in rundir.shards(copy)}
    monkeypatch.setattr(compressed, "LEAST", 0)
    shard_arrays.compress(copy)
    left_out = sum(text.count(b'"data":""') for path in rundir.shards(copy) for _, text in shard.texts(path) if text)
    assert left_out == reports.load_observations(run)["bytes"].notna().sum() > 1000
    for path in rundir.shards(copy):
        texts = [text for _, text in before[path.name.removesuffix(compressed.SUFFIX)]]
        assert [text for _, text in shard_arrays.texts(path)] == texts
    assert frame.observations(copy).equals(frame.observations(run)) and frame.records(copy).equals(frame.records(run))
    run_copy.copy(copy, tmp_path / "night")
    assert frame.observations(tmp_path / "night").equals(frame.observations(run))
    reports.write(tmp_path / "night", RunInfo.load(copy))
    assert (tmp_path / "night" / "observations.parquet").read_bytes() == (run / "observations.parquet").read_bytes()
    rewrite_shards.keep(tmp_path / "night", set(reports.load(run)["case"]))
    (tmp_path / "night" / "observations.parquet").unlink()
    assert frame.observations(tmp_path / "night").equals(frame.observations(run))


def test_arrays_that_the_observations_do_not_have_stay_in_the_shards(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    observations = reports.load_observations(copy)
    changed = observations["bytes"].notna() & (observations["mode"] == "xla")
    observations.loc[changed, "bytes"] = observations.loc[changed, "bytes"].map(lambda data: data[:-1] + b"\7")
    parquet.write(observations, copy / "observations.parquet", schema=frame.OBSERVATIONS)
    monkeypatch.setattr(compressed, "LEAST", 0)
    shard_arrays.compress(copy)
    assert frame.observations(copy).equals(frame.observations(run))


def test_shards_without_their_arrays_say_what_is_missing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    monkeypatch.setattr(compressed, "LEAST", 0)
    shard_arrays.compress(copy)
    few = reports.load_observations(copy)[:-1]
    (copy / "observations.parquet").unlink()
    with pytest.raises(ValueError, match="expected this file, which holds the arrays of the run's shards"):
        merge([copy])
    assert len(frame.records(copy)) == len(frame.records(run))
    parquet.write(few, copy / "observations.parquet", schema=frame.OBSERVATIONS)
    with pytest.raises(ValueError, match=r"expected its arrays in .*observations.parquet, got those of another run"):
        merge([copy])
