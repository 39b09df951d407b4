"""The workflows: what they may do, that their parts fit together, and that their commands do what is said, here."""

import json
import os
import re
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tf_opdiff import reports
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.reports.ci import matrix
from tf_opdiff.reports.ci.jobs import Job

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FLOWS = {path.name: YAML(typ="safe").load(path) for path in FILES}
JOBS = [(file, name) for file, flow in FLOWS.items() for name in flow["jobs"]]
PLAIN = {"contents": "read"}
#: What jobs may do beside reading the repository.
MAY = {"merge": PLAIN | {"actions": "read"}, "pages": {"id-token": "write", "pages": "write"}}
MAY["issues"] = PLAIN | {"issues": "write"}
NIGHT = FLOWS["nightly.yml"]["jobs"]


def steps(job):
    return [step for step in job["steps"] if "run" in step]


@pytest.mark.parametrize(("file", "name"), JOBS)
def test_a_job_may_do_what_it_needs_and_ends(file, name):
    assert FLOWS[file]["permissions"] == {}
    job = FLOWS[file]["jobs"][name]
    assert job["permissions"] == MAY.get(name, PLAIN)
    assert 0 < job["timeout-minutes"] <= 360


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_are_given_by_commit_and_say_which_release_that_is(path):
    used = re.findall(r"uses: (.*)", path.read_text())
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used)


@pytest.mark.parametrize(("file", "name"), JOBS)
def test_a_command_is_one_line_that_runs_elsewhere_as_well(file, name):
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for step in steps(FLOWS[file]["jobs"][name]):
        assert re.fullmatch(rf"\.ci/run|make ({'|'.join(targets)})( [A-Z]+=1)?", step["run"])


@pytest.mark.parametrize(("file", "name"), JOBS)
def test_what_an_expression_names_is_there(file, name):
    jobs, job = FLOWS[file]["jobs"], FLOWS[file]["jobs"][name]
    needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
    text = json.dumps(job)
    for other, rest in re.findall(r"needs\.(\w+)\.([\w.]+)", text):
        assert other in needs
        assert rest == "result" or rest.removeprefix("outputs.") in jobs[other]["outputs"]
    for key in re.findall(r"matrix\.(\w+)", re.sub(r"steps\.matrix\.", "", text)):
        assert key in Job.__struct_fields__
        assert "fromJSON(needs.plan.outputs." in text
    ids = {step["id"] for step in job["steps"] if "id" in step}
    assert set(re.findall(r"steps\.(\w+)\.", text)) <= ids


def test_the_minutes_of_a_machine_are_within_what_its_job_may_take():
    for machine in matrix.load().machine:
        assert machine.minutes + 15 <= min(NIGHT["run"]["timeout-minutes"], NIGHT["smoke"]["timeout-minutes"])


def test_artifacts_are_downloaded_as_they_were_uploaded():
    told = [step for job in NIGHT.values() for step in job["steps"] if "-artifact@" in step.get("uses", "")]
    up = [s["with"] for s in told if "upload-artifact@" in s["uses"]]
    down = [s["with"] for s in told if "download-artifact@" in s["uses"]]
    assert [one["name"] for one in up] == ["job-${{ matrix.name }}", "night"]
    assert up[0]["path"] == down[0]["path"] == matrix.RUNS
    assert (down[0]["pattern"], down[0]["merge-multiple"]) == ("job-*", True)
    assert up[1]["path"].splitlines()[0] == down[1]["path"] == "night/out/merged"


DATA = f"""
tier = "smoke"
[[tensorflow]]
name = "tf221"
requires = "tensorflow==2.21.*"
python = ["{sys.version_info.major}.{sys.version_info.minor}"]
[[machine]]
name = "a"
runs_on = ["x"]
devices = ["cpu"]
minutes = 9
default = true
[[machine]]
name = "b"
runs_on = ["x"]
devices = ["cpu:1"]
minutes = 9
merge = "a"
default = true
"""


SPECS = "suites/ops/math/elementary/rounding.py"
#: Specs and known failures that the nights here do without: to collect them takes most of the time of a run of one op.
OTHERS = ("suites/ops/", "suites/programs/", "suites/claims/", "suites/known/")


@pytest.fixture
def checkout(tmp_path):
    """A copy of the repository whose nights have two small jobs, in tox environments with what is installed here."""
    folder = tmp_path / "checkout"
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    for name in subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout.split("\0"):
        apart = name.startswith(OTHERS) and not name.endswith(("/__init__.py", SPECS))
        if name and not apart and ((ROOT / name).is_file() or (ROOT / name).is_symlink()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    known = folder / "suites" / "known" / "none.toml"
    known.parent.mkdir()
    known.touch()
    (folder / ".venv").mkdir()
    for path in Path(sys.prefix).iterdir():
        (folder / ".venv" / path.name).symlink_to(path) if path.name != ".installed" else None
    (folder / ".venv" / ".installed").touch()
    (folder / ".ci" / "matrix.toml").write_text(DATA)
    here = f"set_env =\n    PYTHONPATH = {site.getsitepackages()[0]}\n    PYTEST_ADDOPTS = --op floor --mode eager\n"
    here += "    PYTEST_XDIST_AUTO_NUM_WORKERS = 1\n"
    text = (folder / "tox.ini").read_text()
    text, n = re.subn(r"(\[testenv\].*?\n)deps =.*?(ignore_outcome =)", rf"\1{here}\2", text, count=1, flags=re.DOTALL)
    assert n == 1
    (folder / "tox.ini").write_text(text)
    return folder


@pytest.fixture
def ran(checkout, github, tmp_path):
    """ran(job, name=…) runs the commands of a job of the workflow as they are written, and gives the exit status."""

    def run(job, name=""):
        given = {"github.token": "t", "github.repository": "o/r", "matrix.name": name, "vars.NIGHTLY_MACHINES": ""}
        given |= {"needs.pages.outputs.url": "https://example.org/s/"}
        for step in steps(NIGHT[job]):
            told = FLOWS["nightly.yml"]["env"] | step.get("env", {})
            told = {k: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: given[found[1]], v) for k, v in told.items()}
            outside = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_", "TOX_", "MAKE"))}
            outside |= {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
            command = ["bash", "-e", "-c", step["run"]]
            done = subprocess.run(
                command, check=False, cwd=checkout, env=outside | told, capture_output=True, text=True, timeout=PATIENCE
            )
            if done.returncode:
                return done.returncode, done.stdout + done.stderr
        return 0, ""

    return run


def test_two_nights_by_the_commands_of_the_workflow(checkout, github, ran, tmp_path):
    """The first finds a fault that is planted in a reference, the second that it is gone."""
    spec = checkout / "suites" / "ops" / "math" / "elementary" / "rounding.py"
    whole = spec.read_text()
    planted = whole.replace("reference=np.floor", "reference=np.ceil")
    assert planted != whole
    spec.write_text(planted)
    (github / "artifacts.json").write_text('{"artifacts": []}')

    assert ran("plan") == (0, "")
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    jobs = [job["name"] for job in json.loads(told["run"])]
    assert jobs == ["tf221-a", "tf221-b"]
    for name in jobs:
        status, said = ran("run", name)
        assert (status, "floor-float32" in said) == (2, True), said  # make fails as pytest does
    status, said = ran("merge")
    assert status == 2, said
    (run,) = (checkout / "night" / "out" / "merged" / "tf221-a").glob("*/run.json")
    assert set(reports.load(run.parent)["device"]) == {"cpu", "cpu:1"}
    assert ran("issues") == (0, "")
    opened = json.loads((github / "issues.json").read_text())
    assert {issue["state"] for issue in opened} == {"OPEN"}
    assert all("floor" in issue["title"] for issue in opened)
    assert f"https://example.org/s/tf221-a/{run.parent.name}/index.html" in opened[0]["body"]

    last = github / "artifacts" / "41" / "night"
    shutil.copytree(checkout / "night" / "out" / "merged", last, ignore=shutil.ignore_patterns("shards", "recordings"))
    about = {"id": 41, "head_branch": "main", "repository_id": 7, "head_repository_id": 7}
    found = [{"expired": False, "created_at": "2031-05-04T00:00:00Z", "workflow_run": about}]
    (github / "artifacts.json").write_text(json.dumps({"artifacts": found}))
    shutil.rmtree(checkout / "night")
    spec.write_text(whole)

    for name in jobs:
        assert ran("run", name) == (0, "")
    assert ran("merge") == (0, "")
    folder = checkout / "night" / "out" / "merged" / "tf221-a"
    assert "Nothing got worse." in (folder / "diff.md").read_text()
    assert len([*(folder / "history").glob("*.parquet")]) == 2
    assert "nothing got worse" in (tmp_path / "summary.md").read_text()
    assert ran("issues") == (0, "")
    closed = json.loads((github / "issues.json").read_text())
    assert len(closed) == len(opened)
    assert {issue["state"] for issue in closed} == {"CLOSED"}
