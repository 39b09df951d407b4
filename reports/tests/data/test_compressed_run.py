"""A run whose shards are compressed gives the same tables as before."""

import shutil
from pathlib import Path

import pytest

from tf_opdiff.harness.store import compressed, rundir
from tf_opdiff.reports.data import error_frames, frame, run_copy


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
