"""Resumed runs: a change of the code since the run began is refused and named, or its dependents run again."""

import os

import pytest

from tf_opdiff.harness.paths import KNOWN, ROOT
from tf_opdiff.harness.run.sessions.import_graph import dependents
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.run_directories.run_code import NAME, RunCode
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.shard import read_shard
from tf_opdiff.harness.tests.planted_code import values

SUITES = "tf_opdiff.harness.tests.planted_code"
VALUES = ROOT / "harness" / "tests" / "planted_code" / "values.py"


@pytest.fixture
def unfinished(run_pytest):
    """A run of two items that was interrupted after both."""
    outcome = run_pytest("--mode", "eager", suites=SUITES)
    assert outcome.status == 0, outcome.output
    info = RunInfo.load(outcome.directory)
    info.state = "interrupted"
    info.save(outcome.directory)
    return outcome.directory


def resume(run_pytest, directory, *words):
    return run_pytest("--resume", str(directory), *words, suites=SUITES, folder=directory)


def pretend(directory, name, digest="0123456789abcdef"):
    """Changes the code with which a run began, as far as its directory says."""
    code = RunCode.load(directory)
    assert code.files.pop(name) and digest
    code.files[name] = digest
    code.save(directory)


def started(paths):
    return {line["case"] for path in paths for line in read_shard(path) if line["line"] == "start"}


def test_another_code_is_refused_and_the_files_are_named(run_pytest, unfinished):
    name = str(VALUES.relative_to(ROOT))
    pretend(unfinished, name)
    shards = {path: path.read_bytes() for path in (unfinished / "shards").iterdir()}
    outcome = resume(run_pytest, unfinished)
    assert outcome.status == 4
    assert f"got other code: {name} (changed); --rerun-changed runs the items again" in outcome.output
    assert {path: path.read_bytes() for path in (unfinished / "shards").iterdir()} == shards
    assert RunInfo.load(unfinished).state == "interrupted"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_items_that_depend_on_the_change_run_again(run_pytest, unfinished, workers):
    before = set((unfinished / "shards").iterdir())
    pretend(unfinished, str(VALUES.relative_to(ROOT)))
    outcome = resume(run_pytest, unfinished, "--rerun-changed", "-n", workers)
    info = RunInfo.load(unfinished)
    assert (outcome.status, info.state, info.planned, info.recorded) == (0, "complete", 2, 2), outcome.output
    assert started(set((unfinished / "shards").iterdir()) - before) == {"depends-float32-plain"}
    assert started(before) == {"independent-float32-plain"}
    assert RunCode.load(unfinished).files == RunCode.present(SUITES, os.devnull).files


def test_a_run_that_does_not_say_its_code_is_refused(run_pytest, unfinished):
    (unfinished / NAME).unlink()
    outcome = resume(run_pytest, unfinished)
    assert outcome.status == 4
    assert f"it has no {NAME}, so its code is unknown" in outcome.output


def test_the_same_code_is_resumed(run_pytest, unfinished):
    outcome = resume(run_pytest, unfinished)
    assert (outcome.status, RunInfo.load(unfinished).state) == (0, "complete"), outcome.output


def test_documents_tests_and_reports_are_no_code_of_a_run():
    files = RunCode.present("tf_opdiff.suites", KNOWN).files
    assert {name.partition("/")[0] for name in files} == {"suites", "harness"}
    assert not [name for name in files if "/tests/" in name or name.startswith("harness/repro/")]
    assert {
        "suites/known/math.toml",
        "harness/judge/differences/compare.py",
        "suites/ops/array/indexing/gather.py",
    } <= files.keys()


def test_a_file_that_changed_was_added_or_is_gone_is_told(tmp_path):
    before = RunCode({"a": "1", "b": "2"}, {str(tmp_path / "loaded.py"): "3"})
    assert before.changes(RunCode({"a": "1", "c": "4"}, {})) == {
        "b": "removed",
        "c": "added",
        str(tmp_path / "loaded.py"): "removed",
    }
    assert before.changes(RunCode({"a": "5", "b": "2"}, before.loaded)) == {"a": "changed"}
    assert before.changes(RunCode(before.files, {**before.loaded, "other.py": "6"})) == {}


def test_modules_depend_on_what_they_import_and_on_the_harness():
    modules = {item.module for item in Catalog.load(SUITES).items}
    assert modules == {f"{SUITES}.depends", f"{SUITES}.independent"}
    assert values.__file__ is not None
    assert dependents(modules, [str(VALUES.relative_to(ROOT))]) == {f"{SUITES}.depends"}
    assert dependents(modules, ["harness/tests/planted_code/new.py"]) == set()
    assert dependents(modules, ["harness/tests/planted_code/__init__.py"]) == modules
    assert dependents(modules, ["harness/judge/differences/compare.py"]) == modules
    assert dependents(modules, ["suites/known/math.toml"]) == modules
