"""A run with a device whose server a command starts: another environment of the same Python, planted by variables."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.remote.connection import Connection, Refused
from tf_opdiff.harness.remote.devices_file import read
from tf_opdiff.harness.remote.messages import Describe
from tf_opdiff.harness.spec.settings.trait import OF_ONEDNN
from tf_opdiff.harness.store.recordings import record_devices, recording
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.tests.patience import PATIENCE

SUITE = "tf_opdiff.harness.tests.planted_specs.planted_onednn"
MARK = "TF_OPDIFF_TEST_MARK"
SITE = Path(__file__).with_name("planted_site")
#: The mismatch of the planted product, known of the planted TensorFlow 2.18.9 alone.
KNOWN = """
[cause.planted]
owner = "us"
reason = "the product is doubled where oneDNN is on"
measured = "it was planted by hand"
title = "A product is doubled"
severity = "wrong_value: it was planted by hand"
entries = [{spec = "product", kind = "value", against = ["numpy", "plan"], unless = "noonednn", tf = "<2.19"}]
"""


@pytest.fixture
def there(tmp_path):
    """The other machine: the file of devices with its server, and its temporary folder, which is empty at the end."""
    folder = Path(tempfile.mkdtemp(prefix="r"))  # short: the path of a socket has at most 107 characters
    variables = [f"{MARK}={tmp_path}", f"TMPDIR={folder}", f"PYTHONPATH={SITE}", "TF_ENABLE_ONEDNN_OPTS=1"]
    command = ["env", "--chdir=/", *variables, sys.executable]
    file = tmp_path / "devices.toml"
    file.write_text(f"[devices.other]\ncommand = {json.dumps(command)}\nstart_timeout = {PATIENCE}\n")
    yield file
    deadline = time.monotonic() + PATIENCE
    while (left := [*folder.iterdir()] or processes(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
    folder.rmdir()


def processes(folder):
    """The processes of the other machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [path] if f"{MARK}={folder}\0".encode() in path.read_bytes() else []
        except OSError:  # it has ended
            continue
    return found


@pytest.mark.rotating
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_remote_device_is_compared_live_and_known_failures_select_by_its_facts(run_pytest, there, tmp_path, workers):
    (tmp_path / "known.toml").write_text(KNOWN)
    words = ("--devices", str(there), "--device", "cpu+noonednn", "--device", "other", "--device", "other+noonednn")
    outcome = run_pytest(*words, "-n", workers, suites=SUITE, known=str(tmp_path / "known.toml"))
    assert outcome.status == 0, outcome.output
    info = RunInfo.load(outcome.directory)
    about = info.devices["other"]
    assert (about["server"], about["device"], about["tensorflow"], about["oneDNN"]) == ("other", "cpu", "2.18.9", "on")
    assert info.devices["other+noonednn"]["oneDNN"] == "off"
    assert info.devices["other+noonednn"]["traits"] == info.devices["cpu+noonednn"]["traits"]
    assert {*about["traits"].split()} - OF_ONEDNN == {*info.devices["cpu+noonednn"]["traits"].split()}
    records = [record for record in outcome.merged.records if record.spec == "product"]
    assert {(r.device, r.mode, r.verdict, r.tf) for r in records if r.against == "numpy"} == {
        *(("cpu+noonednn", mode, "match", info.tf) for mode in ("eager", "xla")),
        *(("other+noonednn", mode, "match", "2.18.9") for mode in ("eager", "xla")),
        *(("other", mode, "known", "2.18.9") for mode in ("eager", "xla")),
    }
    assert ("other", "cpu+noonednn/eager", "known") in {(r.device, r.against, r.verdict) for r in records}
    assert {(r.device.partition("+")[0], r.ran_on) for r in records} == {("cpu", "CPU:0"), ("other", "other:CPU:0")}
    programs = json.loads((outcome.directory / "repro.json").read_text())
    assert {(p["device"], p["status"]) for p in programs} == {("other", "elsewhere")}
    (path,) = record_devices.record(outcome.directory, ["other"], "", tmp_path)
    recorded = recording.Recording(path).about
    assert (path.name, recorded.device, recorded.tf) == ("other@2.18.9.parquet", "cpu", "2.18.9")
    assert recorded.details["oneDNN"] == "on" and recorded.machine["processor"] == about["processor"]


def test_a_crash_and_a_hang_of_a_remote_device_cost_their_own_records(run_pytest, there):
    words = ("--devices", str(there), "--device", "other", "--mode", "eager", "--repro=none")
    ops = ("--op", "writes-and-aborts", "--op", "right", "--op", "hangs", "--op-timeout", "5")
    outcome = run_pytest(*words, *ops)
    assert outcome.status == 1, outcome.output
    records = [record for record in outcome.merged.records if record.against == "numpy"]
    assert {(r.spec, r.verdict, r.got) for r in records if r.quantity == "output[0]"} == {
        ("writes-and-aborts", "mismatch", "crash SIGABRT"),
        ("hangs", "mismatch", "hang TIMEOUT"),
        ("right", "match", ""),
    }
    assert all("last words" in r.detail for r in records if r.kind == "crash")
    info = RunInfo.load(outcome.directory)
    assert (info.tf, info.planned, info.not_run) == ("2.18.9", info.recorded, [])  # TensorFlow did not start here


def test_a_run_goes_on_with_its_remote_device(run_pytest, there):
    words = ("--devices", str(there), "--device", "other", "--mode", "eager", "--repro=none")
    outcome = run_pytest(*words, "--op", "right", "--op", "wrong-dtype")
    info = RunInfo.load(outcome.directory)
    info.state = "interrupted"
    info.save(outcome.directory)
    again = run_pytest("--resume", str(outcome.directory), "--devices", str(there), folder=outcome.directory)
    assert again.status == outcome.status == 1, again.output
    assert again.merged.results.keys() == outcome.merged.results.keys()
    there.write_text(there.read_text().replace(f"PYTHONPATH={SITE}", "PYTHONPATH="))
    info.save(outcome.directory)
    refused = run_pytest("--resume", str(outcome.directory), "--devices", str(there), folder=outcome.directory)
    assert refused.status == 4
    assert "it was run with other's tensorflow 2.18.9; here is 2." in refused.output


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("other:gpu:7", "device gpu:7 is not there; TensorFlow of other lists cpu"),
        ("others", "device others:0 is not there; TensorFlow lists cpu; servers in the file of devices: other"),
    ],
)
def test_an_absent_device_is_one_line(run_pytest, there, device, says):
    outcome = run_pytest("--devices", str(there), "--device", device, suites=SUITE)
    assert outcome.status == 4
    assert f"ERROR: {says}" in outcome.output


def test_nothing_is_left_there_when_the_run_is_killed(there, tmp_path):
    """The fixture waits until the other machine has neither processes nor files."""
    command = [sys.executable, "-m", "pytest", "suites", "-p", "no:cacheprovider", "--devices", str(there)]
    command += ["-o", "opdiff_suites=tf_opdiff.harness.tests.remote.planted_slow", "-o", f"opdiff_known={os.devnull}"]
    command += ["--device", "other", "--run-dir", str(tmp_path / "run"), "--op-timeout", str(PATIENCE)]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE
        while not started(tmp_path / "run" / "shards", "waits") and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
        assert processes(tmp_path)
        os.kill(process.pid, signal.SIGKILL)


def started(folder, spec):
    return any(f'"case":"{spec}' in path.read_text() for path in folder.glob("*.jsonl"))


def test_a_server_deletes_its_files_when_its_command_is_killed(there, tmp_path):
    connection = Connection(read(there)["other"].command, tmp_path / "other.log")
    connection.connect(SUITE, PATIENCE)
    connection.submit(Describe(PATIENCE))
    os.killpg(connection.pid, signal.SIGKILL)
    connection.kill()


def test_the_time_to_start_holds_on_the_other_side_too(there, tmp_path):
    connection = Connection(read(there)["other"].command, tmp_path / "other.log")
    connection.connect(SUITE, PATIENCE)
    with pytest.raises(Refused, match=r"^RuntimeError: TensorFlow could not be asked for its devices: "):
        connection.ask(Describe(0.01), PATIENCE)
    connection.kill()
