"""A process takes the fork server that another one offers, if its own would be the same; children die with it."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from pathlib import Path

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.device.processes.test_isolation import light
from tf_opdiff.harness.tests.patience import PATIENCE

OWNER = """
import os, signal, subprocess, sys
from multiprocessing import forkserver
from pathlib import Path
from tf_opdiff.harness.device.processes.fork_server import start_fork_server
from tf_opdiff.harness.device.processes.shared_fork_server import offered

folder, borrower, settings = sys.argv[1:]
start_fork_server(Path(folder) / "owner.log")
pid = forkserver._forkserver._forkserver_pid
environment = os.environ | offered() | eval(settings)
if "DEAD" in environment:
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
started = subprocess.Popen([sys.executable, "-c", borrower, folder], env=environment)
print(pid, started.pid, flush=True)
sys.stdin.readline()
started.wait()
"""

BORROWER = """
import sys, time
from pathlib import Path
from tf_opdiff.harness.device.processes import fork_server, server_handle
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.planted_servers.planted_children import hang

server_handle._serve = hang
server = server_handle.DeviceServer(Device("cpu"), Path(sys.argv[1]))
print(server._start() or server.pid, fork_server.scratch(), flush=True)
time.sleep(600)
"""


@contextmanager
def started(folder, settings):
    """The ids of an owner's fork server, of the borrower, of its device server, and the borrower's folder."""
    command = [sys.executable, "-c", OWNER, str(folder), BORROWER, repr(settings)]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary,  # a socket's path is short
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=light(folder) | {"TMPDIR": temporary},
        ) as owner,
    ):
        fork_server, borrower = map(int, owner.stdout.readline().split())
        try:
            server, scratch = owner.stdout.readline().split()
            yield fork_server, borrower, int(server), Path(scratch)
        finally:
            with suppress(ProcessLookupError):
                os.kill(borrower, signal.SIGKILL)
            owner.stdin.close()


def parent(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


def test_a_server_of_a_borrower_dies_with_the_borrower_even_while_it_holds_the_gil(tmp_path):
    with started(tmp_path, {}) as (fork_server, borrower, server, scratch):
        assert parent(server) == fork_server
        assert scratch.parent.name.startswith("opdiff-"), "only the owner's folder is deleted if the borrower is killed"
        end = os.pidfd_open(server)
        os.kill(borrower, signal.SIGKILL)
        assert select.select([end], [], [], PATIENCE)[0], "the server outlives the process that asked for it"
        os.close(end)
        assert parent(fork_server), "the owner's fork server ended too"
        end = os.pidfd_open(fork_server)
    assert select.select([end], [], [], PATIENCE)[0], "the fork server outlives its owner"
    os.close(end)
    assert not scratch.exists()


@pytest.mark.parametrize("settings", [{"XLA_FLAGS": ""}, {"DEAD": ""}], ids=["another environment", "it has ended"])
def test_a_process_starts_its_own_fork_server_where_the_offered_one_does_not_fit(tmp_path, settings):
    with started(tmp_path, settings) as (fork_server, borrower, server, _):
        assert parent(server) != fork_server
        assert parent(parent(server)) == borrower


def test_the_workers_of_a_run_share_the_fork_server_of_the_tests(run_pytest):
    outcome = run_pytest(
        "-n",
        "2",
        "--mode",
        "eager",
        "--repro",
        "none",
        suites="tf_opdiff.harness.tests.planted_servers.planted_parents",
    )
    parents = {record.got for record in outcome.merged.records if record.against == "numpy"}
    workers = {path.name for path in (outcome.directory / "shards").iterdir()}
    assert len(workers) == 2 and len(outcome.merged.seconds) == 4
    assert [*map(float, parents)] == [forkserver._forkserver._forkserver_pid], outcome.output


@pytest.fixture
def own_fork_server():
    """Settings under which a run does not take the fork server of the tests, and its folder for temporary files."""
    with tempfile.TemporaryDirectory() as temporary:  # a socket's path is short
        yield {"TMPDIR": temporary}
        assert not list(Path(temporary).glob("opdiff-*")), "the run left temporary files"


def test_the_death_of_the_fork_server_costs_no_result(run_pytest, own_fork_server):
    """Servers end their work without it; then forks of a new one replace them, and run the programs of findings."""
    arguments = ("-n", "2", "--mode", "eager")
    outcome = run_pytest(
        *arguments, suites="tf_opdiff.harness.tests.planted_servers.planted_fork_server", env=own_fork_server
    )
    verdicts = {(r.spec, r.verdict, r.kind) for r in outcome.merged.records if r.against == "numpy"}
    fine = {(name, "match", "") for name in ("kills-the-fork-server", *(f"fine-{n}" for n in range(4)))}
    assert verdicts == {*fine, ("then-dies", "mismatch", "crash")}, outcome.output
    assert outcome.status == 1
    programs = json.loads((outcome.directory / "repro.json").read_text())
    assert {program["status"] for program in programs} == {"reproduced"}


KILLED_IN_FLIGHT = """
import os, signal, sys, threading, time
from multiprocessing import forkserver
from pathlib import Path
from tf_opdiff.harness.device.processes import fork_server, server_handle
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.planted_servers.planted_children import hang

server_handle._serve = hang
fork_server.start_fork_server(Path(sys.argv[1]) / "fork-server.log")
pid = forkserver._forkserver._forkserver_pid
os.kill(pid, signal.SIGSTOP)

def kill():
    main = threading.main_thread().ident
    while sys._current_frames()[main].f_code.co_name != "read_signed":  # the request is sent
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)

threading.Thread(target=kill).start()
server = server_handle.DeviceServer(Device("cpu"), Path(sys.argv[1]))
print(server._start() or "started", forkserver._forkserver._forkserver_pid != pid)
server.stop()
"""


def test_a_fork_server_that_dies_while_it_is_asked_for_a_process_is_replaced(tmp_path):
    with tempfile.TemporaryDirectory() as temporary:  # a socket's path is short
        process = subprocess.run(
            [sys.executable, "-W", "error", "-c", KILLED_IN_FLIGHT, str(tmp_path)],
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=light(tmp_path) | {"TMPDIR": temporary},
        )
    assert (process.stdout, process.stderr) == ("started True\n", "")


def test_a_process_that_ends_with_its_fork_server_is_seen_to_end_as_it_does(run_pytest, own_fork_server, tmp_path):
    """Nobody learns how the first process ended, so the request runs again."""
    outcome = run_pytest(
        *("-n", "0", "--mode", "eager", "--repro", "none"),
        suites="tf_opdiff.harness.tests.planted_servers.planted_orphan",
        env=own_fork_server | {"TF_OPDIFF_TEST_MARKER": str(tmp_path / "marker")},
    )
    assert (tmp_path / "marker").exists()
    assert {r.got for r in outcome.merged.records if r.against == "numpy"} == {"crash SIGABRT"}, outcome.output


def test_an_op_that_no_server_ran_is_tried_again_and_then_a_fault_of_the_suite(run_pytest, own_fork_server):
    """Not a crash of TensorFlow: the op never ran."""
    arguments = ("-n", "0", "--repro", "none", "--no-cache")
    outcome = run_pytest(
        *arguments, suites="tf_opdiff.harness.tests.planted_servers.planted_dying_fork_servers", env=own_fork_server
    )
    records = [record for record in outcome.merged.records if record.against == "numpy"]
    fine = {(name, "match") for name in ("before", "some-die", "between", "after")}
    assert {(r.spec, r.verdict) for r in records} == {*fine, ("all-die", "error")}, outcome.output
    failed = [record for record in records if record.verdict == "error"]
    assert {(r.kind, r.got) for r in failed} == {("status", "error NO_SERVER")}
    assert all(r.detail.startswith("no server for cpu: no process can be started: ") for r in failed)
    assert outcome.status == 3, outcome.output


@pytest.mark.parametrize(
    ("suites", "arguments", "status", "says"),
    [
        ("planted_early", (), 4, r"fork server: \d+"),
        ("planted_interrupt", (), 2, ""),
        ("planted_fork_server", ("--op", "none"), 4, "no op 'none'"),
        ("planted_fork_server", ("--tier", "smoke", "--op", "fine-0"), 5, "nothing is selected"),
    ],
    ids=["a suite is broken", "it is interrupted", "an option is wrong", "nothing is selected"],
)
def test_a_run_starts_its_fork_server_before_it_reads_the_suites_and_ends_it(
    run_pytest, own_fork_server, suites, arguments, status, says
):
    outcome = run_pytest(
        "-n", "0", *arguments, suites=f"tf_opdiff.harness.tests.planted_servers.{suites}", env=own_fork_server
    )
    assert outcome.status == status, outcome.output
    assert re.search(says, outcome.output), outcome.output
    assert not outcome.directory.exists()


STOPPED_EARLY = """
import os, select, shutil
from tf_opdiff.harness.device.processes import fork_server, shared_fork_server

fork_server.start_early()
end = os.pidfd_open(shared_fork_server.own())
fork_server.shutil.rmtree = lambda *_, **__: print(bool(select.select([end], [], [], 0)[0]))
fork_server.stop_early()
"""


def test_a_fork_server_that_is_stopped_early_has_ended_before_its_folder_is_deleted():
    with tempfile.TemporaryDirectory() as temporary:
        env = {k: v for k, v in os.environ.items() if k != "TF_OPDIFF_FORK_SERVER"} | {"TMPDIR": temporary}
        command = [sys.executable, "-c", STOPPED_EARLY]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=env, timeout=PATIENCE)
    assert done.stdout.splitlines()[0] == "True", done.stderr
