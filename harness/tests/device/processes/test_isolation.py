"""An op that dies or hangs costs its own record and nothing else."""

import os
import re
import select
import subprocess
import sys
import tempfile
import time
from multiprocessing import forkserver
from pathlib import Path

import pytest

from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.processes.log import LIMIT
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.harness.tests.patience import PATIENCE


def by_case(records):
    return {(r.case, r.mode): r for r in records if r.against == "numpy"}


@pytest.mark.parametrize(
    ("spec", "code"),
    [("aborts", "SIGABRT"), ("segfaults", "SIGSEGV"), ("exits", "EXIT 7"), ("is-killed", "SIGKILL")],
)
def test_a_dying_op_is_a_crash_attributed_to_its_case_and_plan(run_spec, spec, code):
    records = by_case(run_spec(spec, modes=("eager", "graph")))
    assert len(records) == 4
    assert {(r.verdict, r.kind, r.got) for r in records.values()} == {("mismatch", "crash", f"crash {code}")}


def test_the_case_after_a_crash_is_run_on_a_new_server_that_need_not_import_tensorflow(run_spec):
    run_spec("right", modes=("eager",))
    run_spec("aborts", modes=("eager",))
    (server,) = [s for (d, t, m), s in run_spec.servers.items() if d == Device("cpu") and t == PATIENCE and m == 0]
    assert server._child is None, "the server that died is still held"
    assert {r.verdict for r in run_spec("right", modes=("eager",))} == {"match"}
    assert is_fork(server.pid)


@pytest.mark.parametrize(("variant", "fork"), [("nohlo=algsimp", True), ("noonednn", False)])
def test_the_server_of_a_variant_imports_tensorflow_only_where_that_reads_the_setting(run_spec, variant, fork):
    device = f"cpu+{variant}"
    assert {r.verdict for r in run_spec("right", modes=("xla",), devices=(device,))} == {"match"}
    server = run_spec.servers[Device.parse(device), PATIENCE, 0]
    assert is_fork(server.pid) == fork


def is_fork(pid):
    """Whether a process is a fork of the fork server, which has imported TensorFlow."""
    (parent,) = re.findall(r"^PPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(parent) == forkserver._forkserver._forkserver_pid


@pytest.mark.parametrize(("severity", "verdicts"), [("memory", {"match"}), ("wrong_value", {"mismatch"})])
def test_nothing_runs_in_a_process_whose_memory_an_op_is_known_to_damage(run_spec, severity, verdicts):
    """Without such a known failure, the same op ends the process of the next one."""
    run_spec("right", devices=("cpu",), modes=("eager",))
    cause = Cause(id="damage", owner="us", reason="planted", severity=severity)
    run_spec("damages-memory", modes=("eager",), known=(Entry(spec="damages-memory", kind="crash", cause=cause),))
    after = run_spec("aborts-in-damaged-memory", modes=("eager",))
    assert {r.verdict for r in after if r.recipe == "first"} == verdicts


@pytest.mark.parametrize(("kind", "same"), [("input_mutated", True), ("crash", False)])
def test_an_op_that_changes_its_own_input_alone_costs_no_server(run_spec, kind, same):
    run_spec("right", devices=("cpu",), modes=("eager",))
    server = run_spec.servers[Device("cpu"), PATIENCE, 0]
    before = server.pid
    cause = Cause(id="damage", owner="us", reason="planted", severity="memory")
    run_spec(
        "writes-to-its-input", modes=("eager",), known=(Entry(spec="writes-to-its-input", kind=kind, cause=cause),)
    )
    run_spec("right", devices=("cpu",), modes=("eager",))
    assert (server.pid == before) == same


def test_an_answer_that_nobody_collected_does_not_pass_for_the_next_one(run_spec, catalog):
    """A judge that raises leaves a request behind."""
    assert {r.verdict for r in run_spec("two-recipes", modes=("eager",))} == {"match"}
    server = run_spec.servers[Device("cpu"), PATIENCE, 0]
    (item,) = [item for item in catalog.items if item.spec.name == "two-recipes"]
    plan = Plan(Device("cpu"), "eager")
    assert len(item.cases) > 1
    assert server.submit(RunningCase.of(item, item.cases[-1], [plan]).request(plan)) == ""
    assert {r.verdict for r in run_spec("two-recipes", modes=("eager",))} == {"match"}


def test_a_scan_that_fails_in_a_function_leaves_nothing_in_the_variable_scope_of_the_next_program(run_spec):
    assert {r.got for r in run_spec("scan-fails", modes=("function",)) if r.against == "numpy"} == {"error ValueError"}
    assert {(r.verdict, r.detail) for r in run_spec("recomputes", modes=("eager",))} == {("match", "")}


def test_a_crash_keeps_the_end_of_stderr(run_spec):
    records = run_spec("writes-and-aborts", modes=("eager",))
    assert all("last words" in r.detail for r in records if r.kind == "crash")


@pytest.mark.parametrize("spec", ["hangs", "hangs-with-the-gil"])
def test_a_hang_is_ended_and_recorded_even_while_it_holds_the_gil(run_spec, spec):
    records = by_case(run_spec(spec, modes=("eager",), timeout=1.5))
    assert [(r.verdict, r.kind, r.got) for r in records.values()] == [("mismatch", "hang", "hang TIMEOUT")] * 2


def test_running_out_of_memory_is_an_error_or_a_crash_of_that_case_only(run_spec):
    records = by_case(run_spec("exhausts-memory", modes=("eager",), memory=3 << 30))
    assert len(records) == 2
    for record in records.values():
        assert (record.verdict, record.kind) in {("mismatch", "status"), ("mismatch", "crash")}
        assert "emory" in record.detail + record.got or record.kind == "crash"
    assert {r.verdict for r in run_spec("right", modes=("eager",), memory=3 << 30)} == {"match"}


def test_a_device_that_stopped_working_is_noticed_and_its_server_replaced(run_spec):
    records = by_case(run_spec("poisons", modes=("eager",)))
    assert {(r.verdict, r.kind) for r in records.values()} == {("mismatch", "status")}
    assert all("ILLEGAL_ADDRESS" in r.detail for r in records.values())
    assert {r.verdict for r in run_spec("right", modes=("eager",))} == {"match"}


def test_servers_neither_fall_back_nor_round_to_tf32_nor_thread(run_spec):
    assert {r.verdict for r in run_spec("settings")} == {"match"}


@pytest.mark.parametrize("spec", ["fake-quant-scalar", "fused-pad-scalar"])
def test_a_real_abort_of_tensorflow_is_a_crash_with_its_check_message(run_spec, spec):
    (record,) = run_spec(spec, modes=("eager",))
    assert (record.verdict, record.kind, record.got) == ("mismatch", "crash", "crash SIGABRT")
    assert "Check failed" in record.detail or "F0000" in record.detail


def test_an_op_that_closes_its_files_is_a_crash(run_spec):
    (record,) = run_spec("closes-every-file", modes=("eager",))
    assert (record.verdict, record.got) == ("mismatch", "crash EXIT 1")
    assert {r.verdict for r in run_spec("right", modes=("eager",))} == {"match"}


@pytest.mark.parametrize("device", ["cpu", "cpu+noonednn"])  # a fork; a process of its own, whose end is seen otherwise
def test_an_op_that_closes_its_files_and_lives_on_is_a_crash(run_spec, device, monkeypatch):
    monkeypatch.setattr("tf_opdiff.harness.device.processes.server_handle.GRACE", 0.5)
    (record,) = run_spec("closes-every-file-and-lives-on", modes=("eager",), devices=(device,))
    assert (record.verdict, record.got) == ("mismatch", "crash CLOSED")
    assert "it closed its connection and lived on" in record.detail
    assert {r.verdict for r in run_spec("right", modes=("eager",))} == {"match"}


def test_a_child_of_an_op_that_holds_the_pipe_makes_no_hang_of_a_crash_and_ends_with_it(run_spec):
    (record,) = run_spec("aborts-leaving-a-child", modes=("eager",))
    assert record.got == "crash SIGABRT"
    child = Path("/proc", re.search(r"child (\d+)", record.detail)[1], "stat")
    deadline = time.monotonic() + PATIENCE
    while child.exists() and " Z " not in child.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.exists() or " Z " in child.read_text()


def test_a_child_that_an_op_forked_answers_nothing(run_spec):
    """Else the second case is answered with the numbers of the first."""
    assert {r.verdict for spec in ("forks", "right") for r in run_spec(spec, modes=("eager",))} == {"match"}


def test_a_server_that_stops_in_the_middle_of_its_answer_is_a_hang(run_spec):
    (record,) = run_spec("stops-in-its-answer", modes=("eager",), timeout=20.0)
    assert (record.verdict, record.kind) == ("mismatch", "hang")
    assert {r.verdict for r in run_spec("right", modes=("eager",), timeout=20.0)} == {"match"}


def test_a_server_that_stops_reading_its_request_is_a_hang(run_spec):
    records = by_case(run_spec("stops-in-the-next-large-request", modes=("eager",), timeout=20.0))
    assert {case.rpartition("-")[2]: r.kind for (case, _), r in records.items()} == {"plain": "", "large": "hang"}
    assert {r.verdict for r in run_spec("right", modes=("eager",), timeout=20.0)} == {"match"}


def test_the_server_of_an_op_that_left_a_thread_behind_runs_nothing_else(run_spec):
    assert {r.verdict for r in run_spec("leaves-a-thread", modes=("eager",), timeout=600.0)} == {"match"}
    assert {r.verdict for r in run_spec("right", modes=("eager",), timeout=600.0)} == {"match"}


@pytest.mark.parametrize("spec", ["writes-much", "writes-much-and-aborts"])
def test_a_log_is_limited_and_has_the_end_of_what_was_written(run_spec, spec):
    run_spec("right", modes=("eager",), timeout=30.0)
    (record,) = (r for r in run_spec(spec, modes=("eager",), timeout=30.0) if r.against == "numpy")
    if spec == "writes-much":
        assert record.verdict == "match"
    else:
        assert record.got == "crash SIGABRT"
        assert "last words" in record.detail
    (server,) = [s for (d, t, m), s in run_spec.servers.items() if t == 30.0]
    server.stop()
    log = server._log.read_text()
    assert len(log) <= LIMIT + len("[earlier lines were deleted: the log is limited]\n")
    assert "last words" in log


@pytest.mark.parametrize("spec", ["gives-a-handle", "gives-a-list-handle", "fetches-a-handle"])
def test_an_output_without_a_value_is_an_error_that_says_so_in_every_mode(run_spec, spec):
    records = by_case(run_spec(spec))
    assert len(records) == (1 if spec == "fetches-a-handle" else 4)
    assert {(r.verdict, r.kind, r.got) for r in records.values()} == {("mismatch", "status", "error TypeError")}
    (detail,) = {r.detail for r in records.values()}
    assert re.match(r"output\[0\] is a handle of dtype (resource|variant), which has no value", detail)


def test_a_message_is_the_same_whatever_the_server_ran_before(run_spec):
    once, again = ({r.mode: r.detail for r in run_spec("out-of-range") if r.against == "numpy"} for _ in range(2))
    assert once == again
    assert "[Op:__inference_step]" in once["function"]


def test_a_message_names_no_folder_of_this_machine():
    text = "(register /home/me/tensorflow/registry.py:65) on /job:localhost/replica:0 in while/body/mul of a/b.py"
    code = (
        "from tf_opdiff.harness.device.programs.results import error_result; "
        f"print(error_result(ValueError({text!r})).message)"
    )
    done = forked_python("-c", code)
    assert done.stdout.strip() == text.replace("/home/me/tensorflow/", "…/")


def light(folder):
    """An environment whose fork server imports no TensorFlow, so that hundreds of starts take seconds."""
    (folder / "tensorflow.py").write_text(
        "import tf_opdiff.harness.device.processes.server_handle\n"
        "import tf_opdiff.harness.tests.planted_servers.planted_children\n"
    )
    return os.environ | {"PYTHONPATH": str(folder)}


#: Each test interrupts one of so many calls.
STEP = 10
INTERRUPTED_STARTS = """
import signal, sys
from pathlib import Path
from tf_opdiff.harness.device.processes import server_handle
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.planted_servers.planted_children import ready

folder = Path(sys.argv[1])
server_handle._serve = ready

def interrupted(calls):
    \"""Whether the start made so many calls and returns; there an interrupt came.\"""
    def profile(frame, event, argument):
        nonlocal calls
        calls -= 1
        if not calls:
            signal.raise_signal(signal.SIGINT)
    server = DeviceServer(Device("cpu"), folder)
    try:
        sys.setprofile(profile)
        server._start()
        sys.setprofile(None)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
        server.stop()
    return False

first, step = int(sys.argv[2]), int(sys.argv[3])
calls = first
while interrupted(calls):
    calls += step
print(calls)
"""


@pytest.mark.rotating
@pytest.mark.parametrize("first", range(1, STEP + 1))
def test_an_interrupt_at_any_call_of_a_servers_start_leaves_nothing_half_made(first, tmp_path):
    """No open socket: once one in CI, between a socket's creation and the object that closes it, gave exit status 1."""
    command = [sys.executable, "-W", "error", "-c", INTERRUPTED_STARTS, str(tmp_path), str(first), str(STEP)]
    process = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, env=light(tmp_path)
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert int(process.stdout) > 100


HANGING_SERVER = """
import sys, time
from pathlib import Path
from tf_opdiff.harness.device.processes import server_handle
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.planted_servers.planted_children import hang

server_handle._serve = hang
server = server_handle.DeviceServer(Device("cpu"), Path(sys.argv[1]))
print(server._start() or server.pid, flush=True)
time.sleep(600)
"""


def test_a_killed_worker_leaves_neither_a_process_nor_a_file(tmp_path):
    temporary = Path(tempfile.mkdtemp())  # a socket's path is short
    environment = light(tmp_path) | {"TMPDIR": str(temporary)}
    command = [sys.executable, "-c", HANGING_SERVER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        try:
            server = os.pidfd_open(int(worker.stdout.readline()))
            assert any(temporary.iterdir())
        finally:
            worker.kill()
    assert select.select([server], [], [], PATIENCE)[0], "the server outlives its worker"
    os.close(server)
    deadline = time.monotonic() + PATIENCE
    while any(temporary.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    temporary.rmdir()


SLOW_START = """
from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.installation import probe

fork_server.START_TIMEOUT = 1.0
try:
    probe.probe()
except RuntimeError as error:
    print(error)
"""


def test_a_tensorflow_that_never_starts_is_given_up_after_a_while(tmp_path):
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text("print('starting', flush=True)\nimport time\ntime.sleep(600)\n")
    process = subprocess.run(
        [sys.executable, "-c", SLOW_START],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("TensorFlow could not be asked for its devices: no process can be started")
    assert "starting" in process.stdout
