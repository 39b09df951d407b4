"""A remote server that breaks the protocol costs one clear line or the right observation, and nothing else."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.remote import facts
from tf_opdiff.harness.remote.devices_file import ServerCommand
from tf_opdiff.harness.remote.remote_server import TRIES, Remote, RemoteServer
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.remote.planted_server import ANSWERS

DEVICE = Device("cpu", server="other")
REQUEST = Request(
    module="m",
    spec="s",
    case="c",
    dtype="float32",
    mode="eager",
    inputs=(np.ones(3, np.float32),),
    upstreams=None,
    quantities=("output[0]",),
)


def planted(name, **more):
    command = (sys.executable, str(Path(__file__).with_name("planted_server.py")), name)
    settings = {"start_timeout": PATIENCE, **more}
    return Remote(ServerCommand(command=command, **settings), "tf_opdiff.harness.tests.planted")


@pytest.fixture
def observe(tmp_path):
    """observe(name) → the observation of a request to a planted server, which has ended afterwards."""
    servers = []

    def run(name, count=1, timeout=1.0, **more):
        servers.append(RemoteServer(DEVICE, tmp_path, planted(name, **more), timeout=timeout))
        runs = run_all({DEVICE: servers[-1]}, [{DEVICE: [REQUEST] * count}], lambda *_: None)
        return [observation for _, _, observation in runs]

    yield run
    for server in servers:
        server.stop()
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"planted_server.py" in p.read_bytes() and _ours(p)]


def _ours(cmdline):
    status = cmdline.with_name("status").read_text()
    return f"\nPPid:\t{os.getpid()}\n" in status and "(zombie)" not in status


@pytest.mark.parametrize("name", ANSWERS)
def test_a_malformed_answer_is_a_fault_in_one_line(observe, name, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", str(tmp_path / "planted"))
    (observation,) = observe(name, timeout=PATIENCE)
    assert observation.quantities["output[0]"].code == "NO_SERVER"
    assert observation.fault.startswith("no server for other: ") and "\n" not in observation.fault
    assert "malformed" in observation.fault or "bytes: expected at most" in observation.fault
    assert len(observation.fault) < 1000
    assert not (tmp_path / "planted").exists(), "a pickle of the server was read"


def test_a_server_that_dies_is_a_crash_with_its_last_words_and_starts_again(observe):
    first, second = observe("dies", count=2, timeout=PATIENCE)
    assert first.quantities["output[0]"].code == second.quantities["output[0]"].code == "EXIT 5"
    assert "last words" in second.quantities["output[0]"].message


def test_half_a_message_and_silence_are_a_hang(observe):
    for name in ("half a message", "a byte now and then", "hangs"):
        (observation,) = observe(name)
        assert (observation.quantities["output[0]"].status, observation.fault) == ("hang", "")


def test_a_server_that_closes_its_pipes_and_lives_on_is_a_crash(observe):
    (observation,) = observe("closes its pipes", timeout=PATIENCE)
    assert observation.quantities["output[0]"].code == "CLOSED"


STARTS = {
    "dies at start": "the command ended (EXIT 3): no such host",
    "says why on stdout": "the command ended (EXIT 1): image not found",
    "is no server": "its output is no greeting of a device server: ",
    "has an old Python": "its Python is 3.8: expected 3.11 or newer",
    "sends more than a greeting": "it sent more than a greeting: ",
    "refuses the code": "ImportError: no msgspec here",
}


@pytest.mark.parametrize("name", STARTS)
def test_a_server_that_does_not_start_is_one_line_before_the_run(name):
    with pytest.raises(RuntimeError) as error:
        facts.abouts([DEVICE], {"other": planted(name)})
    assert str(error.value).startswith(f"device server other: {STARTS[name]}")
    assert "\n" not in str(error.value) and len(str(error.value)) < 2500


def test_a_server_that_says_nothing_ends_within_its_time():
    with pytest.raises(
        RuntimeError, match=r"^device server other: it does not start: no greeting within 0\.5 s from the Py"
    ):
        facts.abouts([DEVICE], {"other": planted("says nothing", start_timeout=0.5)})


def test_a_command_that_does_not_exist_is_one_line(tmp_path):
    remote = Remote(ServerCommand(command=(str(tmp_path / "absent"),)), "")
    with pytest.raises(RuntimeError, match=r"^device server other: its command can't be started: .*No such file"):
        facts.abouts([DEVICE], {"other": remote})


@pytest.mark.parametrize("name", ["junk", "another type", "a pickle"])
def test_malformed_facts_are_one_line(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", str(tmp_path / "planted"))
    with pytest.raises(RuntimeError, match=r"^device server other: its answer is malformed: expected Facts: "):
        facts.abouts([DEVICE], {"other": planted(name)})
    assert not (tmp_path / "planted").exists()


def test_a_server_that_never_starts_is_not_tried_for_ever(observe):
    observations = observe("dies at start", count=TRIES + 2)
    assert observations[-1].fault == f"no server for other: {TRIES} starts failed: {STARTS['dies at start']}"
