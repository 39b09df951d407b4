"""A companion of a process answers one request, writes nothing without one, and ends with its starter."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tf_opdiff.harness.system.companion import Companion, serve
from tf_opdiff.harness.tests.patience import PATIENCE

STARTER = f"""
import sys
from pathlib import Path
from tf_opdiff.harness.system.companion import Companion
companion = Companion({__name__!r}, Path(sys.argv[1]), group=True)
print(companion._process.pid, flush=True)
sys.stdin.read()
"""


def _prepare(folder):
    (folder / "ready").touch()

    def write(request):
        if request == b"fail":
            raise ValueError("a planted error")
        (folder / "written").write_bytes(request)
        print("this is no answer", file=sys.stderr)
        return request.upper()

    return write


def main():
    serve(_prepare)


@pytest.fixture
def companion(tmp_path):
    process = Companion(__name__, tmp_path, group=True)
    yield process
    process.stop()


def test_the_answer_is_that_to_the_request(companion, tmp_path):
    companion.ask(b"words")
    assert companion.answer() == b"WORDS"
    assert (tmp_path / "written").read_bytes() == b"words"


def test_an_error_is_printed_and_raised(tmp_path):
    asks = "companion.ask(b'fail')\ncompanion.answer()"
    command = [sys.executable, "-c", STARTER.replace("sys.stdin.read()", asks), str(tmp_path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 1 and not (tmp_path / "written").exists()
    assert "report: a planted error" in ended.stderr and "its process ended with status 4" in ended.stderr


def test_nothing_is_written_without_a_request(companion, tmp_path):
    companion.ask(b"")
    with pytest.raises(OSError, match="status 4"):
        companion.answer()
    assert (tmp_path / "ready").exists() and not (tmp_path / "written").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_process_ends_with_its_starter(tmp_path, number):
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        pid = int(starter.stdout.readline())
        starter.send_signal(number)
    end = time.monotonic() + PATIENCE
    while _runs(pid):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert not (tmp_path / "written").exists()


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_stopped_process_is_gone(companion):
    pid = companion._process.pid
    companion.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
