"""The matrix: what comes from its data file agrees with it, and what is wrong in it is said."""

import json
import subprocess
import sys
import tomllib

import msgspec
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tf_opdiff.command_line import main
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.reports.ci import generated, jobs, matrix

GOOD = """
tier = "smoke"
[[tensorflow]]
name = "tf221"
requires = "tensorflow==2.21.*"
python = ["3.11", "3.12"]
[[machine]]
name = "a"
runs_on = ["x"]
devices = ["cpu"]
shards = 2
minutes = 9
default = true
[[machine]]
name = "b"
runs_on = ["y", "gpu"]
devices = ["gpu:0"]
cuda = true
merge = "a"
minutes = 9
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    """data(text) makes the text the data file."""

    def write(text):
        path = tmp_path / "matrix.toml"
        path.write_text(text)
        monkeypatch.setattr(matrix.load, "__defaults__", (path,))

    return write


@pytest.mark.parametrize("name", generated.parts(matrix.load()))
def test_what_stands_in_a_file_is_what_the_data_says(name):
    text = (ROOT / name).read_text()
    assert generated.written(text, generated.parts(matrix.load())[name]) == text, "run `make matrix`"


def test_a_file_that_differs_from_the_data_is_seen_to():
    text = (ROOT / "tox.ini").read_text()
    wanted = generated.parts(msgspec.toml.decode(GOOD, type=matrix.Matrix))["tox.ini"]
    changed = generated.written(text, wanted)
    assert changed != text
    assert "py{311,312}-tf221\n" in changed
    assert "tf220" not in changed.replace("py311-tf220 ", "")  # a comment's example
    assert generated.written(changed, wanted) == changed


def test_a_part_that_has_no_place_is_an_error():
    with pytest.raises(ValueError, match="part deps: expected one pair of lines"):
        generated.written("nothing\n", {"deps": "x"})


def test_tox_has_an_environment_for_each_job_that_installs_its_tensorflow():
    found = matrix.load()
    names = [machine.name for machine in found.machine]
    planned = [*jobs.jobs(found, names), *jobs.smoke(found)]
    command = [sys.executable, "-m", "tox", "config", "-k", "deps", "ignore_outcome"]
    command += [word for env in sorted({job.tox for job in planned}) for word in ("-e", env)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    sections = {part.partition("]")[0]: part for part in said.split("[testenv:")[1:]}
    assert sections.keys() == {job.tox for job in planned}
    for tf in found.tensorflow:
        for env, text in sections.items():
            assert (f"  {tf.requires}\n" in text) == (tf.name in env.split("-"))
        assert all(("and-cuda" in text) == ("cuda" in env) for env, text in sections.items())
    for job in planned:
        assert (f"ignore_outcome = {job.may_fail}" in sections[job.tox]) is True


def test_every_python_is_one_that_the_project_supports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = SpecifierSet(project["requires-python"])
    for tf in matrix.load().tensorflow:
        assert all(Version(python) in supported for python in tf.python)
        assert [*map(Version, tf.python)] == sorted(map(Version, tf.python)), "the newest has to be the last"


def test_a_night_has_each_shard_of_each_default_machine_on_the_newest_python(data):
    data(GOOD)
    found = matrix.load()
    made = jobs.jobs(found)
    assert [(job.name, job.tox, job.group) for job in made] == [
        ("tf221-a-1of2", "py312-tf221", "tf221-a"),
        ("tf221-a-2of2", "py312-tf221", "tf221-a"),
    ]
    assert made[1].arguments == ["--tier", "smoke", "--repro", "all", "--device", "cpu", "--shard", "2/2"]
    assert [(job.name, job.group) for job in jobs.smoke(found)] == [("py311-tf221-a", "")]


def test_a_machine_that_is_asked_for_is_merged_with_the_one_that_the_data_says(data):
    data(GOOD)
    (job,) = jobs.jobs(matrix.load(), ["b"])
    assert (job.tox, job.group, job.runs_on) == ("py312-tf221-cuda", "tf221-a", ["y", "gpu"])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("shards = 2", "shard = 2", "unknown field `shard`"),
        ("shards = 2", 'shards = "2"', "Expected `int`, got `str`"),
        ("shards = 2", "shards = 0", "shards: expected 1 to 256, got 0"),
        ("shards = 2", "shards = 99999999999999999999", "shards: expected 1 to 256, got 99999999999999999999"),
        ("minutes = 9\ndefault", "minutes = 0\ndefault", "expected labels, devices, shards, minutes"),
        ('name = "b"', 'name = "a"', "machine 'a': expected names of a-z, 0-9 and -, each once"),
        ('name = "b"', 'name = "$(b)"', "each once"),
        ('"gpu:0"', '"gpu:0+tf23"', "machine 'b': device 'gpu:0+tf23': no variant 'tf23'"),
        ('merge = "a"', 'merge = "c"', "merge 'c': expected a"),
        ('"gpu:0"', '"cpu"', "cpu: expected once among the machines that are merged with 'a', got twice"),
        ('["3.11", "3.12"]', "[]", "and Pythons such as '3.12'"),
        ("shards = 2", "shards = 257", "shards: expected 1 to 256, got 257"),
        ("cuda = true", "cuda = true\ndefault = true\nshards = 255", "257 jobs: expected 1 to 256"),
        ("default = true", "", "0 jobs"),
    ],
)
def test_what_is_wrong_in_the_data_is_said_in_one_line(data, capsys, old, new, says):
    data(GOOD.replace(old, new, 1))
    assert main(["matrix"]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_an_unknown_machine_is_an_error_that_names_those_there_are(data, capsys, monkeypatch):
    data(GOOD)
    monkeypatch.setenv("NIGHTLY_MACHINES", "a, c")
    assert main(["matrix"]) == 4
    assert "machine 'c': expected some of a, b" in capsys.readouterr().err


def test_an_unknown_job_is_an_error(data, capsys):
    data(GOOD)
    assert main(["matrix", "--job", "tf221-c"]) == 4
    assert "job 'tf221-c': expected one of tf221-a-1of2" in capsys.readouterr().err


def test_github_gets_the_jobs_as_two_outputs(data, capsys, monkeypatch, tmp_path):
    data(GOOD)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    assert main(["matrix"]) == 0
    printed = json.loads(capsys.readouterr().out)
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert {name: json.loads(text) for name, text in told.items()} == printed
    assert [job["name"] for job in printed["run"]] == ["tf221-a-1of2", "tf221-a-2of2"]
