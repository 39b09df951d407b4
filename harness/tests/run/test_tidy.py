"""What a run leaves: compressed shards that every reader reads, and the newest few runs."""

import gzip
import os
import shutil

import pytest

from tf_opdiff.harness.run import merge_runs
from tf_opdiff.harness.store.recordings import record_devices, recording
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.judges import JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import compressed, shard, whole_lines
from tf_opdiff.harness.store.shards.merged import merge

SUITE = "tf_opdiff.harness.tests.planted_runs.planted_kept"
TIDY = ("-p", "tf_opdiff.harness.tests.planted_runs.planted_tidy")


@pytest.fixture(scope="module")
def plain(shared_run):
    """A run whose shards are not compressed."""
    return shared_run("--mode", "eager", "--device", "cpu", "--repro=none", suites=SUITE)


def test_a_run_leaves_compressed_shards_and_the_newest_runs(run_pytest, plain, tmp_path):
    """With --keep-runs=2 the third run removes the first one; all that reads shards reads compressed ones."""
    runs = [tmp_path / "runs" / f"2026010{day}T000000-abcdef" for day in (1, 2, 3)]
    for directory in runs[:2]:
        shutil.copytree(plain.directory, directory)
        info = RunInfo.load(directory)
        info.run = directory.name
        info.save(directory)
    words = ("--mode", "eager", "--device", "cpu", "--repro=none", "--keep-runs=2", *TIDY)
    outcome = run_pytest(*words, suites=SUITE, folder=runs[2])
    assert outcome.status == 0, outcome.output
    assert "removed old runs: 20260101T000000-abcdef (--keep-runs 2)" in outcome.output
    assert sorted(path.name for path in runs[0].parent.iterdir()) == [runs[1].name, runs[2].name, "latest"]
    assert {path.name.partition(".")[2] for path in (runs[2] / "shards").iterdir()} == {"jsonl.zst"}
    lines = [text for path in rundir.shards(runs[2]) for _, text in shard.texts(path)]
    assert lines and not [text for text in lines if b'"line":"start"' in text]
    assert {path.name.partition(".")[2] for path in (runs[2] / "logs").iterdir()} == {"log.gz"}
    assert any(gzip.decompress(path.read_bytes()) for path in (runs[2] / "logs").iterdir())
    assert merge([runs[2]]).done == plain.merged.done
    (path,) = record_devices.record(runs[2], [], "h100", tmp_path)
    assert recording.Recording(path).cases == {case for case, _, _ in plain.merged.done}
    info = RunInfo.load(runs[2])
    info.state = "fault"
    info.save(runs[2])
    resumed = run_pytest("--resume", str(runs[2]), suites=SUITE, folder=runs[2])
    assert resumed.status == 0, resumed.output
    assert {path.name.partition(".")[2] for path in (runs[2] / "shards").iterdir()} == {"jsonl"}  # whole again
    assert RunInfo.load(runs[2]).recorded == len(plain.merged.done)


def test_record_and_merge_give_the_same_bytes_before_and_after_a_run_is_made_small(plain, tmp_path, monkeypatch):
    """The shards leave arrays and records to Parquet files, and everything that reads shards reads them there."""
    before = plain.directory
    after = tmp_path / "after" / before.name
    shutil.copytree(before, after)
    monkeypatch.setattr(compressed, "LEAST", 0)
    whole_lines.compress(after)
    text = b"".join(text for path in rundir.shards(after) for _, text in shard.texts(path))
    assert text.count(b'"data":""') >= 5
    assert text.count(b'"records":"') >= 5 and b'"records":[{' not in text
    recorded, merged = [], []
    for number, run in enumerate((before, after)):
        folder = tmp_path / str(number)
        (path,) = record_devices.record(run, [], "h100", folder)
        recorded.append(path.read_bytes())
        assert merge_runs.merge([run], folder / "merged", ["--repro=none"], JudgedBy(SUITE, os.devnull)) == 0
        merged.append([path.read_bytes() for path in sorted((folder / "merged" / "recordings").iterdir())])
    assert recorded[0] == recorded[1] and merged[0] == merged[1] and merged[0]
    texts = [[text for path in rundir.shards(run) for _, text in whole_lines.texts(path)] for run in (before, after)]
    assert texts[0] == texts[1]


def test_a_merge_without_one_of_the_shards_is_red_and_names_it(run_pytest, tmp_path, capfd):
    runs = []
    for n in (1, 3, 2):  # the third one has no items, and leaves no run
        outcome = run_pytest("--shard", f"{n}/3", "--mode", "eager", "--device", "cpu", "--repro=none", suites=SUITE)
        assert outcome.status in (0, 5), outcome.output
        runs += [outcome.directory] if outcome.status == 0 else []
    by = JudgedBy(SUITE, os.devnull)
    assert merge_runs.merge(runs, tmp_path / "whole", ["--repro=none"], by) == 0
    capfd.readouterr()
    absent = RunInfo.load(runs[-1]).shard
    assert merge_runs.merge(runs[:-1], tmp_path / "part", ["--repro=none"], by) == 3
    info = RunInfo.load(tmp_path / "part")
    (fault,) = info.faults
    assert fault.startswith("expected all 2 shards, got ")
    assert fault.endswith(f"; missing: {absent}")
    assert f"merge: {fault}\n" in capfd.readouterr().out
