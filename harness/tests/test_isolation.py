"""An op that dies or hangs costs its own record and nothing else."""

import subprocess
import sys
import time

import pytest

from harness.devices import ROOT
from harness.plan import Device


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


def test_the_case_after_a_crash_is_run_on_a_new_server_within_a_second(run_spec):
    run_spec("right", modes=("eager",))
    run_spec("aborts", modes=("eager",))
    (server,) = [s for (d, t, m), s in run_spec.servers.items() if d == Device("cpu") and t == 60 and m == 0]
    assert server._process is None, "the server that died is still held"
    started = time.monotonic()
    records = run_spec("right", modes=("eager",))
    assert time.monotonic() - started < 1
    assert {r.verdict for r in records} == {"match"}


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


INTERRUPTED_STARTS = """
import signal, sys
from pathlib import Path
from harness.devices import DeviceServer, start_fork_server
from harness.plan import Device

folder = Path(sys.argv[1])
start_fork_server(folder / "log")

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

calls = 1
while interrupted(calls):
    calls += 1
print(calls)
"""


def test_an_interrupt_at_any_call_of_a_servers_start_leaves_nothing_half_made(tmp_path):
    """No open socket: once one in CI, between a socket's creation and the object that closes it, gave exit status 1."""
    command = [sys.executable, "-W", "error", "-c", INTERRUPTED_STARTS, str(tmp_path)]
    process = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    assert int(process.stdout) > 100
