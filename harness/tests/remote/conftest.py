"""Planted device servers, and what is observed of them."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.remote.devices_file import ServerCommand
from tf_opdiff.harness.remote.remote_server import Remote, RemoteServer
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.patience import PATIENCE

SCRIPT = Path(__file__).with_name("planted_server.py")
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
    """The entry of a planted server in a file of devices."""
    settings = {"start_timeout": PATIENCE, **more}
    return Remote(
        ServerCommand(command=(sys.executable, str(SCRIPT), name), **settings),
        "tf_opdiff.harness.tests.planted_specs.planted",
    )


@pytest.fixture
def observe(tmp_path):
    """observe(*names) → the observations of a request to each planted server, which have ended afterwards."""
    servers = []

    def run(*names, count=1, timeout=1.0, **more):
        team = {}
        for n, name in enumerate(names):
            device = Device("cpu", server=f"other{n or ''}")
            team[device] = RemoteServer(device, tmp_path, planted(name, **more), timeout=timeout)
        servers.extend(team.values())
        runs = run_all(team, [dict.fromkeys(team, [REQUEST] * count)], lambda *_: None)
        return [observation for _, _, observation in runs]

    yield run
    for server in servers:
        server.stop()
    assert not [process for process in Path("/proc").glob("[0-9]*") if _is_ours(process)]


def _is_ours(process):
    """Whether a process is a planted server that this process started, and has not ended."""
    try:
        status, command = (process / "status").read_text(), (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return False
    return SCRIPT.name.encode() in command and f"\nPPid:\t{os.getpid()}\n" in status and "(zombie)" not in status
