"""Old runs: only whole runs that sessions made and named are removed, the oldest first."""

import pytest

from tf_opdiff.harness.store.run_directories import old_runs
from tf_opdiff.harness.store.run_directories.run_info import RunInfo


def plant(folder, name, state="complete", page=True, shard="main.jsonl", run=""):
    directory = folder / name
    (directory / "shards").mkdir(parents=True)
    (directory / "shards" / shard).write_text("")
    if page:
        (directory / "index.html").write_text("page")
    RunInfo(run=run or name, started="s", state=state).save(directory)
    return directory


def name(day):
    return f"202601{day:02}T000000-abcdef"


def test_the_newest_whole_runs_stay(tmp_path):
    runs = [plant(tmp_path, name(day)) for day in (3, 1, 4, 2)]
    assert old_runs.remove(tmp_path, 2) == [runs[1], runs[3]]
    assert sorted(tmp_path.iterdir()) == [runs[0], runs[2]]
    assert old_runs.remove(tmp_path, 2) == []


@pytest.mark.parametrize(
    "planted",
    [
        {"state": "interrupted"},
        {"state": "fault"},
        {"state": "running"},
        {"state": "reporting"},
        {"page": False},
        {"shard": "sweep.jsonl"},
        {"run": "another"},
        {"name": "before-the-upgrade"},
    ],
)
def test_whatever_is_no_whole_run_of_a_session_stays(tmp_path, planted):
    stays = plant(tmp_path, **{"name": name(1)} | planted)
    whole = [plant(tmp_path, name(day)) for day in (2, 3)]
    (tmp_path / "history").mkdir()
    assert old_runs.remove(tmp_path, 1) == whole[:1]
    assert stays.exists() and (stays / "run.json").exists()
    assert (tmp_path / "history").exists()


def test_the_run_to_which_latest_points_and_links_stay(tmp_path):
    folder = tmp_path / "runs"
    elsewhere = plant(tmp_path / "elsewhere", name(1))
    old, new = plant(folder, name(2)), plant(folder, name(3))
    (folder / name(1)).symlink_to(elsewhere)
    (folder / "latest").symlink_to(old.name)
    assert old_runs.remove(folder, 1) == []
    assert old.exists() and new.exists() and (elsewhere / "run.json").exists()


def test_a_run_without_a_readable_run_json_stays(tmp_path):
    damaged = plant(tmp_path, name(1))
    (damaged / "run.json").write_text("{")
    plant(tmp_path, name(2))
    assert old_runs.remove(tmp_path, 1) == []
    assert damaged.exists()
