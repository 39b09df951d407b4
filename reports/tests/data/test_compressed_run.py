"""A run whose shards are compressed gives the same tables as before."""

import shutil
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import compressed, rewrite_shards, shard, shard_records, whole_lines
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.reports.data.figures import error_frames
from tf_opdiff.reports.data.run_data import frame, parquet, run_copy


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
    whole_lines.compress(copy)
    left_out = sum(text.count(b'"data":""') for path in rundir.shards(copy) for _, text in shard.texts(path) if text)
    assert left_out == reports.load_observations(run)["bytes"].notna().sum() > 1000
    for path in rundir.shards(copy):
        texts = [text for _, text in before[path.name.removesuffix(compressed.SUFFIX)]]
        assert [text for _, text in whole_lines.texts(path)] == texts
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
    whole_lines.compress(copy)
    assert frame.observations(copy).equals(frame.observations(run))


def test_shards_without_their_arrays_say_what_is_missing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    monkeypatch.setattr(compressed, "LEAST", 0)
    whole_lines.compress(copy)
    few = reports.load_observations(copy)[:-1]
    (copy / "observations.parquet").unlink()
    with pytest.raises(ValueError, match="expected this file, which holds the arrays of the run's shards"):
        merge([copy])
    assert len(frame.records(copy)) == len(frame.records(run))
    parquet.write(few, copy / "observations.parquet", schema=frame.OBSERVATIONS)
    with pytest.raises(ValueError, match=r"expected its arrays in .*observations.parquet, got those of another run"):
        merge([copy])


def short_and_whole(run: Path) -> tuple[int, int]:
    """How many lines of a run's shards leave their records to `records.parquet`, and how many hold them."""
    texts = [text or b"" for path in rundir.shards(run) for _, text in shard.texts(path)]
    return sum(b'"records":"' in text for text in texts), sum(b'"records":[{' in text for text in texts)


@pytest.fixture
def copy(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a run whose shards will be compressed, large or not."""
    monkeypatch.setattr(compressed, "LEAST", 0)
    return Path(shutil.copytree(run, tmp_path / "copy"))


def test_shards_leave_their_records_to_the_table_and_read_them_there(run: Path, copy: Path, tmp_path: Path) -> None:
    before = {path.name: [text for _, text in shard.texts(path)] for path in rundir.shards(copy)}
    count = short_and_whole(copy)[1]
    whole_lines.compress(copy)
    assert short_and_whole(copy) == (count, 0) and count > 1000
    for path in rundir.shards(copy):
        assert [text for _, text in whole_lines.texts(path)] == before[path.name.removesuffix(compressed.SUFFIX)]
    assert frame.records(copy).equals(frame.records(run))
    reports.write(copy, RunInfo.load(copy))
    assert (copy / "records.parquet").read_bytes() == (run / "records.parquet").read_bytes()
    rewrite_shards.expand(copy)
    for name in ("records.parquet", "observations.parquet"):
        (copy / name).unlink()
    for path in rundir.shards(copy):
        assert [text for _, text in shard.texts(path)] == before[path.name]


def test_records_that_the_table_does_not_have_stay_in_the_shards(run: Path, copy: Path) -> None:
    records = reports.load(copy)
    records.loc[records["mode"] == "xla", "max_ulp"] += 0.5
    parquet.write(records, copy / "records.parquet")
    whole_lines.compress(copy)
    assert min(short_and_whole(copy)) > 0
    assert frame.records(copy).equals(frame.records(run))


def test_a_fault_in_the_restoring_leaves_the_line_whole(run: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    restored = shard_records.Records._filled

    def wrong(self: shard_records.Records, text: bytes, where: str) -> bytes | None:
        whole = restored(self, text, where)
        return whole and whole.replace(b'"mode":"xla"', b'"mode":"XLA"')

    with monkeypatch.context() as patch:
        patch.setattr(shard_records.Records, "_filled", wrong)
        whole_lines.compress(copy)
    assert min(short_and_whole(copy)) > 0
    assert frame.records(copy).equals(frame.records(run))


def test_shards_without_their_records_say_what_is_missing(run: Path, copy: Path) -> None:
    whole_lines.compress(copy)
    records = reports.load(copy)
    (copy / "records.parquet").unlink()
    for read in (frame.records, lambda path: merge([path])):
        with pytest.raises(ValueError, match="expected this file, which holds the records of the run's shards"):
            read(copy)
    parquet.write(records.assign(seconds=records["seconds"] + 1), copy / "records.parquet")
    with pytest.raises(ValueError, match=r"expected its records in .*records.parquet, got those of another run"):
        merge([copy])
