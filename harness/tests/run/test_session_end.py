"""How runs end early: signals, a directory that is deleted, a disk that is full, workers that die while they start."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import STOPPED, RunInfo
from tf_opdiff.harness.store.run_directories.rundir import absent, create, discard
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard, Unkept, read_shard
from tf_opdiff.harness.tests.conftest import offer
from tf_opdiff.harness.tests.patience import PATIENCE

ENDS = "tf_opdiff.harness.tests.planted_runs.planted_ends"


def until(condition, process):
    """Waits for a condition, as long as the process runs."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            pytest.fail(process.stdout.read())
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def scratch():
    """A folder for temporary ones; its path is short, since the fork server has its socket there."""
    with tempfile.TemporaryDirectory(prefix="e-") as path:
        yield Path(path)


@pytest.fixture
def begun(scratch):
    """begun(*words) → a process in a session of its own, whose temporary folders are in `scratch`.

    With `borrows`, it takes the fork server of the tests, and its temporary folders are there.
    """
    processes = []

    def begin(*words, borrows=False, **env):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=kept | (offer() if borrows else {"TMPDIR": str(scratch)}) | env,
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def words_of(directory, *options):
    options = ("-o", f"opdiff_suites={ENDS}", "-o", f"opdiff_known={os.devnull}", "--mode", "eager", *options)
    return ("-m", "pytest", "-p", "no:cacheprovider", *options, "--run-dir", str(directory), "suites")


def alive(session):
    """The processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


def gone(process):
    """Whether nothing is left of a process: none that it started, no temporary folder."""
    end = time.monotonic() + PATIENCE
    while alive(process.pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(process.pid)


def started(directory, name):
    return (directory / "shards").is_dir() and any(cell[0].startswith(name) for cell in merge([directory]).started)


def test_a_run_that_is_terminated_ends_like_one_that_is_interrupted(begun, scratch, tmp_path):
    directory = tmp_path / "run"
    process = begun(*words_of(directory, "--op", "fine-before", "--op", "waits", "-n", "2"))
    until(lambda: started(directory, "waits") and len(merge([directory]).done) == 2, process)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    info = RunInfo.load(directory)
    assert (process.returncode, info.state, info.exit_status) == (2, "interrupted", 2), output
    assert (info.planned, info.recorded, len(info.not_run)) == (4, 2, 2)
    assert (directory / "index.html").exists()
    assert gone(process)
    assert list(scratch.glob("opdiff-*")) == []


def test_a_second_interrupt_ends_the_run_at_once_and_leaves_it_marked(begun, scratch, tmp_path):
    directory = tmp_path / "run"
    process = begun(*words_of(directory, "--op", "waits", "-p", "tf_opdiff.harness.tests.planted_runs.slow_report"))
    until(lambda: started(directory, "waits"), process)
    process.send_signal(signal.SIGHUP)
    until((directory / "reporting").exists, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    info = RunInfo.load(directory)
    assert (process.returncode, info.state, info.exit_status) == (2, "interrupted", 2), output
    assert gone(process)
    assert list(scratch.iterdir()) == []


SLOW_REPORT = ("--op", "fine-before", "-p", "tf_opdiff.harness.tests.planted_runs.slow_report")


def test_an_interrupt_of_the_report_marks_a_run_that_was_complete(begun, tmp_path):
    directory = tmp_path / "run"
    process = begun(*words_of(directory, *SLOW_REPORT), borrows=True)
    until((directory / "reporting").exists, process)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, RunInfo.load(directory).state) == (2, "reporting"), output
    assert "Traceback" not in output
    assert f"python -m reports {directory}" in output


@pytest.mark.parametrize("words", [("-m", "pytest", "suites", "--resume={}"), ("-m", "reports", "{}")])
def test_a_run_that_was_killed_while_its_report_was_written_gets_it_later(begun, tmp_path, words):
    directory = tmp_path / "run"
    process = begun(*words_of(directory, *SLOW_REPORT), borrows=True)
    until((directory / "reporting").exists, process)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert RunInfo.load(directory).state == "reporting"
    assert not (directory / "index.html").exists()
    settings = ("-o", f"opdiff_suites={ENDS}", "-o", f"opdiff_known={os.devnull}") if "pytest" in words else ()
    mend = begun(*(word.format(directory) for word in words), *settings, borrows=True)
    output, _ = mend.communicate(timeout=PATIENCE)
    info = RunInfo.load(directory)
    assert (mend.returncode, info.state, info.planned, info.recorded) == (0, "complete", 2, 2), output
    assert "Partial run" not in (directory / "index.html").read_text()


@pytest.mark.parametrize("verb", ["pytest", "devices"])
def test_a_signal_before_anything_runs_leaves_nothing(begun, scratch, tmp_path, verb):
    words = words_of(tmp_path / "run", "--op", "waits") if verb == "pytest" else ("-m", "harness", verb)
    process = begun(*words)
    until(lambda: list(scratch.glob("opdiff-*")), process)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, output
    assert gone(process)
    assert list(scratch.glob("opdiff-*")) == []
    assert not (tmp_path / "run").exists()


CHILD = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
pathlib.Path(sys.argv[1]).touch()
signal.pause()
"""


def test_a_command_that_a_verb_runs_is_interrupted_with_it_and_ends_in_its_own_way(begun, tmp_path):
    code = "import sys; from pathlib import Path; from tf_opdiff.harness.system.interrupt import Interrupts, run_child;"
    code += "Interrupts().install(); sys.exit(run_child([sys.executable, '-c', *sys.argv[1:]], Path('.')))"
    process = begun("-c", code, CHILD, str(tmp_path / "ready"))
    until((tmp_path / "ready").exists, process)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 7
    assert gone(process)


def test_a_run_whose_directory_is_deleted_is_at_fault_and_finds_nothing(run_pytest, tmp_path):
    directory = tmp_path / "run"
    doomed = {"DOOMED": str(directory)}
    ops = [word for name in ("fine-before", "deletes-the-run", "fine-1") for word in ("--op", name)]
    outcome = run_pytest(*ops, "--mode", "eager", "-n", "2", suites=ENDS, folder=directory, env=doomed)
    assert outcome.status == 3, outcome.output
    assert "the results of the run cannot be saved: " in outcome.output
    assert "was deleted while the run was writing it" in outcome.output
    assert "mismatch" not in outcome.output
    assert "Traceback" not in outcome.output
    assert not directory.exists()


def test_a_run_that_the_disk_has_no_room_for_is_at_fault_and_says_so(run_pytest, tmp_path):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 10, 20 << 10))

    ops = [word for n in range(6) for word in ("--op", f"fine-{n}")]
    outcome = run_pytest(*ops, "--repro=none", suites=ENDS, folder=tmp_path / "run", before=limited)
    assert outcome.status == 3, outcome.output
    assert "the results of the run cannot be saved: " in outcome.output
    assert "File too large" in outcome.output
    assert "Traceback" not in outcome.output
    info = RunInfo.load(tmp_path / "run")
    assert (info.state, info.exit_status) == ("fault", 3)
    assert not list((tmp_path / "run").glob("*.tmp"))


LIMITED = """
import resource, sys
from pathlib import Path
from tf_opdiff.harness.store.shards.shard import Shard, Unkept
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
folder, limit = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
"""


def limited(code, folder, limit):
    command = [sys.executable, "-c", LIMITED + code, str(folder), str(limit)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.stdout.strip() or done.stderr


def test_a_line_that_is_written_in_part_is_not_taken_for_written(tmp_path):
    code = """
shard = Shard(folder / "shard.jsonl")
shard.write("plan", items=["x" * 40])
try:
    shard.write("plan", items=["y" * 400])
except Unkept as why:
    print(why)
"""
    assert limited(code, tmp_path, 200) == f"{tmp_path / 'shard.jsonl'}: File too large"
    lines = list(read_shard(tmp_path / "shard.jsonl"))
    assert lines == [{"line": "plan", "items": ["x" * 40]}, None]


def test_the_state_of_a_run_is_changed_where_there_is_no_room_for_another_file(tmp_path):
    info = RunInfo(run="r", started="s", not_run=[{"case": f"c{n}", "why": "cut off"} for n in range(50)])
    info.save(tmp_path)
    size = (tmp_path / "run.json").stat().st_size
    code = """
info = RunInfo.load(folder)
info.state, info.exit_status = "interrupted", 2
info.save(folder)
print("saved")
"""
    assert limited(code, tmp_path, size) == "saved"
    after = RunInfo.load(tmp_path)
    assert (after.state, after.exit_status, after.not_run) == ("interrupted", 2, info.not_run)
    assert {path.name for path in tmp_path.iterdir()} == {"run.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_shard_on_a_full_disk_says_so():
    shard = Shard(Path("/dev/full"))
    with pytest.raises(Unkept, match="/dev/full: No space left on device"):
        shard.write("plan", items=[])
    shard.close()


def test_a_shard_that_was_deleted_says_so(tmp_path):
    shard = Shard(tmp_path / "shard.jsonl")
    shard.write("plan", items=[])
    (tmp_path / "shard.jsonl").unlink()
    with pytest.raises(Unkept, match=r"shard\.jsonl was deleted"):
        shard.write("plan", items=[])
    shard.close()


DIES = """
import os, signal, sys
folder = os.path.dirname(__file__)
if "exec(eval(sys.stdin.readline()))" in " ".join(sys.orig_argv):  # a worker of xdist's
    number, when = open(os.path.join(folder, "dies")).read().split()
    for n in range(9):
        try:
            os.close(os.open(os.path.join(folder, "count", str(n)), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        if str(n) == number:
            if when == "later":  # when xdist asks it where it is
                os.getcwd = lambda: os.kill(os.getpid(), signal.SIGKILL)
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        break
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a `sitecustomize`, one for all runs, so that they have the same variables."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(DIES)
    return folder


@pytest.fixture
def with_a_death(run_pytest, site):
    """with_a_death(number, when, …) → the Outcome of a run whose worker of this number dies `first` or `later`."""

    def run(number, when, *options, suites):
        (site / "dies").write_text(f"{number} {when}")
        shutil.rmtree(site / "count", ignore_errors=True)
        (site / "count").mkdir()
        options = (*options, "--mode", "eager", "-n", "2", "--repro=none")
        return run_pytest(*options, suites=suites, shared_env={"PYTHONPATH": str(site)})

    return run


def test_a_worker_that_dies_while_it_takes_another_ones_place_costs_no_report(with_a_death):
    suites = "tf_opdiff.harness.tests.planted_runs.planted_session"
    outcome = with_a_death(2, "first", "--op", "kills-the-worker", "--op", "fine-0", suites=suites)
    info = RunInfo.load(outcome.directory)
    assert (outcome.status, info.state) == (3, "fault"), outcome.output
    assert "INTERNALERROR" not in outcome.output
    assert any("xdist failed" in fault for fault in info.faults), info.faults
    assert (outcome.directory / "index.html").exists()
    assert info.planned == info.recorded + len(info.not_run)


@pytest.mark.parametrize(("number", "when"), [(0, "first"), (1, "first"), (1, "later")])
def test_a_worker_that_dies_while_it_starts_costs_no_report(with_a_death, number, when):
    outcome = with_a_death(number, when, "--op", "fine-before", suites=ENDS)
    info = RunInfo.load(outcome.directory)
    assert (outcome.status, info.state) == (3, "fault"), outcome.output
    (fault,) = info.faults
    assert fault.startswith("a worker of xdist ended while it started, so that nothing was run: "), fault
    assert "INTERNALERROR" not in outcome.output
    assert "Traceback" not in outcome.output
    assert outcome.output.count(fault[:70]) == 1, outcome.output
    assert (outcome.directory / "index.html").exists()
    assert (info.planned, info.recorded, [cell["why"] for cell in info.not_run]) == (2, 0, ["never started"] * 2)


def test_a_run_that_selects_nothing_leaves_nothing(run_pytest, tmp_path):
    outcome = run_pytest("-k", "no_such_item", "--op", "fine-0", suites=ENDS, folder=tmp_path / "new" / "run")
    assert outcome.status == 5, outcome.output
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_a_run_that_is_discarded_stays(tmp_path):
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "notes.txt").write_text("keep")
    made = absent(directory)
    create(tmp_path, chosen=directory)
    RunInfo(run="r", started="s").save(directory)
    discard(directory, made)
    assert [path.name for path in directory.iterdir()] == ["notes.txt"]


def test_a_merge_of_runs_without_results_leaves_nothing(tmp_path, capsys):
    create(tmp_path, chosen=tmp_path / "empty")
    RunInfo(run="r", started="s", state="fault").save(tmp_path / "empty")
    assert main(["merge", str(tmp_path / "empty"), "--run-dir", str(tmp_path / "new" / "run")]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"python -m harness merge: nothing to merge: no result in {tmp_path / 'empty'}"
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_run_that_stops_at_a_failure_says_what_was_not_run_and_is_no_fault(run_pytest):
    ops = ("--op", "one-ulp-off", "--op", "wrong-shape", "--mode", "eager", "--repro=none")
    outcome = run_pytest("-p", "no:xdist", "-x", *ops)
    info = RunInfo.load(outcome.directory)
    assert (outcome.status, info.state, info.faults) == (1, "interrupted", []), outcome.output
    assert info.planned == info.recorded + len(info.not_run) > info.recorded > 0
    assert {cell["why"] for cell in info.not_run} == {STOPPED}
    assert "stopped at a failure, as -x and --maxfail ask" in outcome.output
    assert "tf-opdiff: items: 0 of 2, about " in outcome.output
    assert "writing the report" in outcome.output


def test_a_program_that_reproduced_is_not_run_again_and_says_when_it_was(run_pytest, tmp_path):
    env = {"TF_OPDIFF_CACHE": str(tmp_path / "cache")}

    def outcomes(name, *options):
        ops = ("--op", "one-ulp-off", "--op", "hangs", "--mode", "eager", "--op-timeout", "3")
        done = run_pytest(*ops, *options, shared_env=env, folder=tmp_path / name)
        found = json.loads((done.directory / "repro.json").read_text())
        return done, {o["spec"]: o for o in found}

    first, ran = outcomes("first", "--repro", "all")
    assert {o["status"] for o in ran.values()} == {"reproduced"}
    assert "programs of findings: 0 of 2" in first.output
    second, reused = outcomes("second", "--repro", "new")
    assert {o["status"] for o in reused.values()} == {"reproduced earlier"}
    assert {o["run"] for o in reused.values()} == {"first"}
    assert "programs of findings" not in second.output
    assert all(reused[spec]["output"] == ran[spec]["output"] for spec in ran)
    assert all((second.directory / o["script"]).read_text() for o in reused.values())
    page = (second.directory / "index.html").read_text()
    date = reused["hangs"]["date"][:16].replace("T", " ")
    assert f"Reproduced in run first on {date} UTC, not run again" in page
    assert "which was run" not in page
    for path in (tmp_path / "cache" / "reproduced").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"program": "another program's hash"}))
    _, again = outcomes("third", "--repro", "new")
    assert {o["status"] for o in again.values()} == {"reproduced"}, "its program is another one today"
