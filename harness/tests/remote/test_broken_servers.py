"""A remote server that breaks the protocol costs one clear line or the right observation, and nothing else."""

import pytest

from tf_opdiff.harness.remote import facts
from tf_opdiff.harness.remote.devices_file import ServerCommand
from tf_opdiff.harness.remote.remote_server import TRIES, Remote
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.remote.conftest import planted
from tf_opdiff.harness.tests.remote.planted_server import ANSWERS

DEVICE = Device("cpu", server="other")
#: Seconds for a request where the answer comes at once, and where it must be clear that it does not come.
SOON = 20.0


@pytest.mark.parametrize("name", ANSWERS)
def test_a_malformed_answer_is_a_fault_in_one_line(observe, name, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", str(tmp_path / "planted"))
    (observation,) = observe(name, timeout=SOON)
    assert observation.quantities["output[0]"].code == "NO_SERVER"
    assert observation.fault.startswith("no server for other: ") and "\n" not in observation.fault
    assert "malformed" in observation.fault or "bytes: expected at most" in observation.fault
    assert len(observation.fault) < 1000
    assert not (tmp_path / "planted").exists(), "a pickle of the server was read"


def test_a_server_that_dies_is_a_crash_with_its_last_words_and_starts_again(observe):
    first, second = observe("dies", count=2, timeout=PATIENCE)
    assert first.quantities["output[0]"].code == second.quantities["output[0]"].code == "EXIT 5"
    assert "last words" in second.quantities["output[0]"].message


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
