"""A checker keeps its servers from check to check, but no file of a check, and no slot that others wait for."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from tf_opdiff.checking.checker import Checker
from tf_opdiff.checking.pickling import pickled
from tf_opdiff.checking.request import CheckRequest
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.patience import PATIENCE

_WORKER = """
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.spec.plan import Device
Slots([Device("gpu", 0)]).acquire()
"""


@pytest.fixture
def checker(tmp_path):
    checker = Checker(tmp_path)
    yield checker
    checker.close()


def test_checks_leave_no_open_file_and_no_folder(checker, tmp_path):
    program, _ = pickled(lambda x: x + x)
    inputs = (np.float32([1, 2, 3]),)
    request = CheckRequest(name="doubled", functions={"program": program}, sources=inputs, modes=("eager",))

    def left():
        assert checker.answer(request).records
        return len(os.listdir("/proc/self/fd")), sorted(os.listdir(tmp_path))

    assert left() == left() == left()


def test_an_idle_checker_gives_its_slot_to_a_worker_that_waits(checker, tmp_path, monkeypatch):
    monkeypatch.setenv("TF_OPDIFF_SERVERS", "1")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    slots = checker.slots_on([Device("gpu", 0)])
    slots.acquire()
    checker.wait()
    assert checker.slots_on([Device("gpu", 0)]) is slots
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", _WORKER], env=environment) as worker:
        deadline = time.monotonic() + PATIENCE
        while worker.poll() is None and time.monotonic() < deadline:
            checker.wait()
        ended = worker.poll()
        worker.kill()
    assert ended == 0, "the worker got no slot"
