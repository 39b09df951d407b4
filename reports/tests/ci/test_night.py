"""A night: what each job left counts, what is missing is a fault, and what got worse since last night is said."""

import json
import shutil
from dataclasses import fields, replace

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.ci import gh, matrix
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic

DATA = """
tier = "smoke"
[[tensorflow]]
name = "tf221"
requires = "tensorflow==2.21.*"
python = ["3.11"]
[[tensorflow]]
name = "tfnightly"
requires = "tf-nightly"
python = ["3.11"]
may_fail = true
[[machine]]
name = "a"
runs_on = ["x"]
devices = ["cpu"]
minutes = 9
default = true
"""
CLEAN = {"verdict": "match", "kind": "", "mismatched": 0, "got": "", "want": "", "input": "", "max_ulp": 0.0}


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    path = tmp_path / "matrix.toml"
    path.write_text(DATA)
    monkeypatch.setattr(matrix.load, "__defaults__", (path,))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def left(tmp_path):
    """left(job, run, worse=…) writes what a job left; gives the folder of all jobs."""

    def write(job, run, *, floor="match", **about):
        rows = synthetic.records([("rounding", "floor"), ("sign", "abs")], ["cpu"], ["edges"])
        rows = [replace(row, **CLEAN, run=run) for row in rows]
        wrong = {"verdict": floor, "kind": "value", "mismatched": 2, "size": 67, "got": "1.0", "want": "2.0"}
        rows = [replace(row, **wrong, max_ulp=9.0) if row.spec == "floor" and floor != "match" else row for row in rows]
        directory = tmp_path / "jobs" / job / run
        told = {"exit_status": int(floor != "match")} | about
        reports.write(directory, synthetic.write(directory, rows, observed=True, run=run, **told))
        return tmp_path / "jobs"

    return write


def merged(out):
    (found,) = (out / "merged" / "tf221-a").glob("*/run.json")
    return found.parent


def test_a_clean_night_ends_with_0_and_what_is_published_has_no_shards(left, tmp_path, capsys):
    left("tf221-a", "tf221-a-1")
    assert main(["night", str(left("tfnightly-a", "tfnightly-a-1")), "--out", str(tmp_path / "out")]) == 0
    run = merged(tmp_path / "out")
    assert len(reports.load(run)) == 16
    site = tmp_path / "out" / "site"
    names = {path.name for path in site.rglob("*")}
    assert names >= {"index.html", "history.html", "records.parquet", "summary.md"}
    assert not names & {"shards", "observations.parquet", "logs", "history"}
    page = (site / "index.html").read_text()
    assert f'href="tf221-a/{run.name}/index.html"' in page
    assert "tfnightly-a | 2.21.0 | cpu gpu:0 | clean, allowed to fail" in capsys.readouterr().out


def test_a_job_that_left_nothing_is_a_fault_unless_it_may_fail(left, tmp_path, capsys):
    jobs = left("tf221-a", "tf221-a-1")
    assert main(["night", str(jobs), "--out", str(tmp_path / "one")]) == 0
    assert "fault: job tfnightly-a left no run" in capsys.readouterr().out
    left("tfnightly-a", "tfnightly-a-1")
    shutil.rmtree(jobs / "tf221-a")
    assert main(["night", str(jobs), "--out", str(tmp_path / "two")]) == 3
    assert "fault: job tf221-a left no run" in capsys.readouterr().out
    assert "job tf221-a left no run" in (tmp_path / "two" / "site" / "index.html").read_text()
    assert "job tf221-a left no run" in (tmp_path / "two" / "merged" / "summary.md").read_text()


def test_a_run_of_a_job_that_is_not_of_the_night_is_a_fault(left, tmp_path, capsys):
    left("tf221-a", "tf221-a-1")
    assert main(["night", str(left("tf221-b", "tf221-b-1")), "--out", str(tmp_path / "out")]) == 3
    assert "fault: tf221-b is no job of this night" in capsys.readouterr().out
    assert "All clean" not in (tmp_path / "out" / "site" / "index.html").read_text()


def test_a_partial_run_is_a_fault(left, tmp_path):
    jobs = left("tf221-a", "tf221-a-1", state="interrupted", exit_status=2)
    assert main(["night", str(jobs), "--out", str(tmp_path / "out")]) == 3


def test_of_two_runs_of_a_job_the_newer_counts(left, tmp_path):
    left("tf221-a", "tf221-a-1", floor="mismatch", started="2031-05-04T01:00:00+00:00")
    jobs = left("tf221-a", "tf221-a-2", started="2031-05-04T02:00:00+00:00")
    assert main(["night", str(jobs), "--out", str(tmp_path / "out")]) == 0
    assert RunInfo.load(merged(tmp_path / "out")).run == "tf221-a-2"


def test_what_got_worse_since_last_night_is_told_and_history_goes_on(left, tmp_path, monkeypatch):
    jobs = left("tf221-a", "tf221-a-1", started="2031-05-04T01:00:00+00:00")
    assert main(["night", str(jobs), "--out", str(tmp_path / "one")]) == 0
    shutil.rmtree(jobs)
    left("tf221-a", "tf221-a-2", started="2031-05-05T01:00:00+00:00", floor="known", exit_status=0)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    last = str(tmp_path / "one" / "merged")
    assert main(["night", str(jobs), "--out", str(tmp_path / "two"), "--last", last]) == 1
    folder = tmp_path / "two" / "merged" / "tf221-a"
    assert "8 records got worse." in (folder / "diff.md").read_text()
    assert "8 records got worse." in (tmp_path / "step.md").read_text()
    history = (folder / "history.html").read_text()
    assert "tf221-a-1" in history
    assert "tf221-a-2" in history
    assert len([*(folder / "history").glob("*.parquet")]) == 2


def test_a_last_night_that_is_damaged_is_a_fault_and_no_news(left, tmp_path, capsys):
    jobs = left("tf221-a", "tf221-a-1")
    assert main(["night", str(jobs), "--out", str(tmp_path / "one")]) == 0
    (merged(tmp_path / "one") / "records.parquet").write_bytes(b"PAR1")
    last = str(tmp_path / "one" / "merged")
    assert main(["night", str(jobs), "--out", str(tmp_path / "two"), "--last", last]) == 3
    assert "fault: not compared with last night" in capsys.readouterr().out


def test_hostile_texts_are_escaped(left, tmp_path):
    clean = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    devices = {text: {"asked": True} for text in clean}
    jobs = left("tf221-a", "tf221-a-1", tf=clean[0], devices=devices, faults=clean)
    assert main(["night", str(jobs), "--out", str(tmp_path / "out")]) == 3
    for name in ("index.html", "summary.md"):
        text = (tmp_path / "out" / "merged" / name).read_text()
        assert "<script" not in text
        assert "<img" not in text
        assert "<svg" not in text


PLANTED = "<script>window.pwned=1</script>"


def test_the_pages_of_a_jobs_only_run_are_written_anew_and_nothing_else_of_it_is_published(left, tmp_path, capsys):
    jobs = left("tf221-a", "tf221-a-1", floor="mismatch")
    run = jobs / "tf221-a" / "tf221-a-1"
    (run / "repro").mkdir()
    (run / "shards" / "sub").mkdir()
    outcome = {field.name: "" for field in fields(Outcome)[:9]} | {"status": "reproduced", "script": "repro/floor.py"}
    (run / "repro.json").write_text(json_of([outcome]))
    (run / "repro" / "floor.py").write_text("print('a program')")
    own = ("index.html", "summary.md", "badge.svg")
    foreign = ("claims.html", "foo.html", "foo.js", "junit.xml", "repro/foo.py", "shards/sub/foo.html")
    for name in (*own, *foreign):
        (run / name).write_text(PLANTED)
    (run / "records.parquet").write_bytes(b"PAR1")
    assert main(["night", str(jobs), "--out", str(tmp_path / "out")]) == 1, capsys.readouterr().out
    for folder in (merged(tmp_path / "out"), tmp_path / "out" / "site" / "tf221-a" / merged(tmp_path / "out").name):
        assert not [path for path in folder.rglob("*") if path.is_file() and PLANTED.encode() in path.read_bytes()]
        assert not [name for name in foreign if (folder / name).exists()]
        assert {path.name for path in folder.iterdir()} >= {*own, "records.parquet", "repro.json"}
        assert [path.read_text() for path in folder.glob("repro/*")] == ["print('a program')"]


def test_a_run_without_shards_is_a_fault_and_not_published(left, tmp_path, capsys):
    jobs = left("tf221-a", "tf221-a-1")
    shutil.rmtree(jobs / "tf221-a" / "tf221-a-1" / "shards")
    assert main(["night", str(jobs), "--out", str(tmp_path / "out")]) == 3
    assert "fault: the run can't be read" in capsys.readouterr().out
    assert not [*(tmp_path / "out" / "site" / "tf221-a").glob("*/")]


@pytest.mark.parametrize("words", [["nowhere", "--out", "x"], ["jobs", "--out", "x", "--fetch"]])
def test_wrong_usage_is_said_in_one_line(tmp_path, words, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    assert main(["night", *words]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected" in line


def artifact(run, **changes):
    whole = {"head_branch": "main", "head_repository_id": 7, "repository_id": 7, "id": run}
    about = {"expired": False, "created_at": f"2031-05-{run:02}T00:00:00Z"}
    return about | {k: v for k, v in changes.items() if k in about} | {"workflow_run": whole | changes}


def test_last_night_is_the_newest_of_the_default_branch_of_this_repository(github, tmp_path, monkeypatch):
    found = [artifact(4), artifact(5), artifact(6, expired=True), artifact(7, head_branch="other"), artifact(9)]
    found += [artifact(8, head_repository_id=8), artifact(3)]
    (github / "artifacts.json").write_text(json.dumps({"artifacts": found}))
    for run in range(1, 10):
        (github / "artifacts" / str(run) / "night").mkdir(parents=True)
        (github / "artifacts" / str(run) / "night" / "run").write_text(str(run))
    monkeypatch.setenv("GITHUB_RUN_ID", "9")
    assert gh.fetch("night", tmp_path / "last") == "5"
    assert (tmp_path / "last" / "run").read_text() == "5"
    with pytest.raises(FileExistsError, match="exists already"):
        gh.fetch("night", tmp_path / "last")
    (github / "artifacts.json").write_text('{"artifacts": []}')
    assert gh.fetch("night", tmp_path / "none") == ""


def test_a_last_night_that_can_not_be_had_is_a_fault_and_tonight_is_merged(left, github, tmp_path, capsys):
    jobs = left("tf221-a", "tf221-a-1")
    (github / "artifacts.json").write_text("no JSON")
    words = ["--out", str(tmp_path / "out"), "--last", str(tmp_path / "last"), "--fetch"]
    assert main(["night", str(jobs), *words]) == 3
    assert "fault: last night can't be had" in capsys.readouterr().out
    assert isinstance(reports.load(merged(tmp_path / "out")), pd.DataFrame)
