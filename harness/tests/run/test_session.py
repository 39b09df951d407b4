"""Whole sessions, in processes of their own: exit statuses, messages, and the books that have to balance."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import read_shard
from tf_opdiff.harness.tests.conftest import offer
from tf_opdiff.harness.tests.patience import PATIENCE

SESSION = "tf_opdiff.harness.tests.planted_runs.planted_session"


@pytest.mark.parametrize("workers", ["0", "2"])  # the smoke tier runs with `auto`
def test_nothing_is_lost_when_ops_die(run_pytest, workers):
    outcome = run_pytest("--op", "dies", "--op", "Floor", "-n", workers, suites=SESSION)
    info = RunInfo.load(outcome.directory)
    assert outcome.status == 1, outcome.output
    assert (info.state, info.not_run) == ("complete", [])
    assert info.planned == info.recorded == len(outcome.merged.done) == 2 * 2 + 6 * 2 * 4
    crashes = [r for r in outcome.merged.records if r.kind == "crash"]
    assert {(r.case, r.mode) for r in crashes} == {
        (f"dies-float32-{c}", m) for c in ("first", "second") for m in ("eager", "graph")
    }
    assert {r.verdict for r in outcome.merged.records if r.spec != "dies"} == {"match"}
    assert any(crash.rerun in outcome.output for crash in crashes)
    others = "3 more records like it: on cpu/eager, cpu/graph; in dies-float32-first, dies-float32-second"
    assert others in outcome.output
    assert len(outcome.output.rpartition("= tf-opdiff =")[2].splitlines()) <= 60


@pytest.fixture(scope="module")
def cut_off(shared_run):
    """A run whose two workers die while they run the last item."""
    return shared_run("-n", "2", "--mode", "eager", suites=SESSION)


def test_a_killed_worker_leaves_a_red_run_that_says_what_did_not_run(cut_off):
    outcome, info = cut_off, RunInfo.load(cut_off.directory)
    assert outcome.status == 3, outcome.output
    assert info.state == "fault"
    assert info.planned == info.recorded + len(info.not_run)
    missing = {(cell["case"], cell["why"]) for cell in info.not_run}
    assert ("kills-the-worker-float32-first", "cut off") in missing
    assert {case.rpartition("-float32")[0] for case, _ in missing} == {"kills-the-worker"}
    assert "Partial run" in outcome.output


def test_an_interrupted_run_says_so_and_keeps_what_it_has(tmp_path):
    directory = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "opdiff_suites=tf_opdiff.harness.tests.planted_specs.planted",
        "-o",
        f"opdiff_known={os.devnull}",
    ]
    command += ["--run-dir", str(directory), "suites", "--op", "right", "--op", "hangs", "--mode", "eager"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | offer(),
    )
    while process.poll() is None and not any(cell[0].startswith("hangs") for cell in _started(directory)):
        time.sleep(0.05)  # looks again, and leaves the processor to the run
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    info = RunInfo.load(directory)
    assert process.returncode == 2, output
    assert info.state == "interrupted"
    assert info.not_run
    assert "interrupted" in output.lower()
    assert info.planned == info.recorded + len(info.not_run)
    assert "interrupted" in (directory / "summary.md").read_text().lower()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_that_was_cut_off_goes_on_where_it_stopped(run_pytest, cut_off, tmp_path, workers):
    """Only the last item is run again, and nothing is lost or doubled."""
    directory = shutil.copytree(cut_off.directory, tmp_path / cut_off.directory.name)
    assert (cut_off.status, RunInfo.load(directory).state) == (3, "fault")
    started = {path.name for path in (directory / "shards").iterdir()}
    done, planned = cut_off.merged.done, RunInfo.load(directory).planned
    again = run_pytest(
        "--resume", str(directory), "-n", workers, suites=SESSION, folder=directory, shared_env={"SPARE": "1"}
    )
    info = RunInfo.load(directory)
    assert (again.status, info.state, info.not_run) == (1, "complete", []), again.output
    assert info.planned == info.recorded == planned == len(again.merged.done)
    added = [p for p in (directory / "shards").iterdir() if p.name not in started]
    ran = {
        (line["case"], line["device"], line["mode"]) for p in added for line in read_shard(p) if line["line"] == "start"
    }
    assert ran and ran.isdisjoint(done - {c for c in done if c[0].startswith("kills-the-worker")})
    assert {case.rpartition("-float32")[0] for case, *_ in ran} == {"kills-the-worker"}
    assert "kills-the-worker" in again.output


@pytest.fixture(scope="module")
def right(run_pytest):
    """A run without a failure; tests do not change it."""
    return run_pytest("--op", "right", "--mode", "eager")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--op", "Floor"], "expected no other selection"),
        ([], "there is nothing to resume"),
    ],
)
def test_what_cannot_be_resumed_is_named(run_pytest, right, arguments, says):
    outcome = run_pytest("--resume", str(right.directory), *arguments, folder=right.directory)
    assert outcome.status == 4
    assert says in outcome.output


def test_a_run_that_does_not_exist_cannot_be_resumed(run_pytest, tmp_path):
    assert run_pytest("--resume", str(tmp_path / "none"), folder=tmp_path / "none").status == 4


def _started(directory: Path):
    return merge([directory]).started if directory.exists() else set()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--device", "gpu:7"], "device gpu:7 is not there; TensorFlow lists cpu"),
        (["--device", "GPU-1"], "expected TYPE or TYPE:INDEX"),
        (["--mode", "jit"], "no mode 'jit'; there is eager, function, xla, graph"),
        (["--tier", "nightly"], "no tier 'nightly'; there is smoke, default, full"),
        (["--op", "Flor"], "no op 'Flor'; there is"),
        (["--case", "right-float32-plan"], "no case 'right-float32-plan'; there is"),
    ],
)
def test_wrong_usage_is_one_line_that_names_what_there_is(run_pytest, arguments, says):
    outcome = run_pytest(*arguments)
    assert outcome.status == 4
    assert says in outcome.output
    assert "Traceback" not in outcome.output
    assert not (outcome.directory / "index.html").exists()


def test_a_selection_of_nothing_has_a_status_of_its_own(run_pytest):
    outcome = run_pytest("--tier", "smoke", "--op", "hangs")  # another spec has the case about its op
    assert outcome.status == 5
    assert "nothing is selected" in outcome.output
    assert not outcome.directory.exists()


def test_the_smoke_tier_runs_one_case_of_each_op(run_pytest):
    outcome = run_pytest(
        "--tier", "smoke", "--mode", "eager", suites="tf_opdiff.harness.tests.planted_specs.planted_attrs"
    )
    assert {r.case for r in outcome.merged.records} == {
        "sums-float32-all-small",
        "counts-from-float32-one-small",
        "scaled-float16-double-bits",
    }


def test_a_keyword_that_selects_nothing_is_no_success(run_pytest):
    assert run_pytest("-k", "no_such_item", "--op", "right").status == 5


def test_a_run_in_which_nothing_was_tested_is_red(run_pytest):
    outcome = run_pytest("--op", "no-bfloat16-kernel", "--mode", "eager")
    assert outcome.status == 3, outcome.output
    assert "nothing was tested" in outcome.output


def test_a_mode_leaves_out_what_it_cannot_express_and_an_absent_kernel_is_no_failure(run_pytest):
    outcome = run_pytest("--op", "right", "--op", "hangs", "--op", "no-bfloat16-kernel", "--mode", "function")
    assert outcome.status == 0, outcome.output
    assert "1 passed, 1 skipped" in outcome.output
    assert {r.verdict for r in outcome.merged.records} == {"match", "unavailable"}


def test_a_run_directory_that_cannot_be_written_is_wrong_usage(run_pytest, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    outcome = run_pytest("--op", "right", folder=blocked / "run")
    assert outcome.status == 4
    assert "run directory:" in outcome.output


def test_a_run_directory_that_holds_a_run_is_not_overwritten(run_pytest, tmp_path):
    (tmp_path / "run.json").write_text("{}")
    outcome = run_pytest("--op", "right", folder=tmp_path)
    assert outcome.status == 4
    assert "holds a run already" in outcome.output


CAUSE = """
[cause.planted]
title = "The result is off by one"
severity = "accuracy: one ULP is less than half of the bits"
owner = "us"
reason = "planted for this test"
measured = "in this test alone"
"""


def test_a_misspelt_known_failure_stops_the_run_before_it_starts(run_pytest, tmp_path):
    known = tmp_path / "known.toml"
    known.write_text(f'{CAUSE}entries = [{{spec = "rigt", kind = "value"}}]\n')
    outcome = run_pytest("--op", "right", known=known)
    assert outcome.status == 4
    assert "known.toml: cause 'planted': entry 1 (spec 'rigt'): no spec 'rigt'; there is right" in outcome.output


def test_a_known_failure_that_selects_no_comparison_is_reported(run_pytest, tmp_path):
    known = tmp_path / "known.toml"
    known.write_text(f'{CAUSE}entries = [{{spec = "right", quantity = "output[3]", kind = "value"}}]\n')
    outcome = run_pytest("--op", "right", "--mode", "eager", known=known)
    assert outcome.status == 3, outcome.output
    assert "entry 1 of cause planted (known.toml)" in outcome.output


def test_a_run_holds_the_causes_by_which_it_was_judged(run_pytest, tmp_path):
    known = tmp_path / "known.toml"
    known.write_text(f'{CAUSE}entries = [{{spec = "one-ulp-off", kind = "value"}}]\n')
    outcome = run_pytest("--op", "one-ulp-off", "--mode", "eager", known=known)
    (cause,) = json.loads((outcome.directory / "causes.json").read_text())
    assert (cause["id"], cause["title"], cause["severity"]) == ("planted", "The result is off by one", "accuracy")
    assert {r.cause for r in outcome.merged.records if r.verdict == "known"} == {"planted"}


def test_a_run_holds_the_kernels_of_its_tensorflow(right):
    kernels = json.loads((right.directory / "kernels.json").read_text())
    assert "float32" in kernels["Asinh"]["CPU"][0]["T"]
    assert "complex64" not in kernels["Asinh"]["GPU"][0]["T"]  # whether this machine has a GPU or not
    assert "float32" in kernels["Asinh"]["XLA_CPU_JIT"][0]["T"]


def test_a_run_directory_elsewhere_does_not_move_the_root_of_the_workers(run_pytest):
    outcome = run_pytest("--op", "right", "-n", "2", paths=())
    assert outcome.status == 0, outcome.output


def test_the_suites_own_fault_has_a_status_of_its_own(run_pytest):
    assert run_pytest("--op", "broken-reference", "--mode", "eager").status == 3


def test_a_tensorflow_too_old_is_refused(run_pytest, tmp_path):
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text('__version__ = "2.9.1"\n')
    outcome = run_pytest("--op", "right", env={"PYTHONPATH": str(tmp_path)})
    assert outcome.status == 4
    assert "TensorFlow 2.9.1 is too old: expected 2.18 or newer" in outcome.output


def test_a_clean_run_leaves_every_file_of_the_report(run_pytest):
    outcome = run_pytest("--op", "right")
    assert outcome.status == 0, outcome.output
    there = {path.name for path in outcome.directory.iterdir()}
    assert {"index.html", "records.parquet", "observations.parquet", "summary.md", "junit.xml", "run.json"} <= there
    assert json.loads((outcome.directory / "run.json").read_text())["devices"]["cpu"]["asked"] is True


def test_collecting_imports_no_tensorflow():
    code = (
        "import sys, pytest;"
        "status = pytest.main(['--collect-only', '-q', '-p', 'no:cacheprovider', 'suites']);"
        "print('STATUS', int(status));"
        "print('TENSORFLOW', 'tensorflow' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = dict(line.split() for line in output.splitlines()[-2:])
    assert (found["STATUS"], found["TENSORFLOW"]) == ("0", "False")
