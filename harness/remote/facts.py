"""Facts of servers: asks the servers of a run for the facts of their machines, before the run begins."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping

from tf_opdiff.harness.remote.connection import Connection
from tf_opdiff.harness.remote.messages import Describe, Facts
from tf_opdiff.harness.remote.remote_server import Remote
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.run_directories.open_run import facts_of, require
from tf_opdiff.harness.system.interrupt import Scratch, uninterrupted


def abouts(devices: Iterable[Device], remotes: Mapping[str, Remote]) -> dict[str, About]:
    """The facts of remote devices, by the names of the devices; others are left out.

    Args:
      devices: the devices of a run.
      remotes: the servers that are present, by name.

    Raises:
      RuntimeError: a server does not start.
      LookupError: a server has no such device.
    """
    wanted = [device for device in devices if device.server]
    facts = _facts({device.server: remotes[device.server] for device in wanted})
    for device in wanted:
        require([device.on_its_machine], facts[device.server].devices, f"TensorFlow of {device.server}")
    return {str(device): _about(device, facts[device.server]) for device in wanted}


def _facts(remotes: Mapping[str, Remote]) -> dict[str, Facts]:
    """The facts of each server; all start at once."""
    facts, connections = {}, {}
    with Scratch() as logs, contextlib.ExitStack() as ends:
        for name, remote in remotes.items():
            try:
                with uninterrupted():
                    connections[name] = Connection(remote.command.command, logs / f"{name}.log")
                    ends.callback(connections[name].kill)
            except OSError as error:
                raise RuntimeError(f"device server {name}: its command can't be started: {error}") from error
        deadlines = {name: time.monotonic() + remote.command.start_timeout for name, remote in remotes.items()}
        for step in ("connect", "ask"):
            for name, connection in connections.items():
                patience = max(0.0, deadlines[name] - time.monotonic())
                try:
                    if step == "connect":
                        connection.connect(remotes[name].suites, patience)
                    else:
                        facts[name] = connection.ask(Describe(remotes[name].command.start_timeout), patience)
                except (EOFError, OSError) as error:
                    raise RuntimeError(f"device server {name}: {connection.failure(error)}") from error
    return facts


def _about(device: Device, facts: Facts) -> About:
    """The facts of a device on a server, in the form of those of a recorded device."""
    return About(
        name=str(device),
        device=str(device.on_its_machine),
        tf=facts.versions["tensorflow"],
        cuda=facts.cuda,
        host=facts.host,
        details=facts_of(device.on_its_machine, facts.devices),
        versions={**facts.versions, "cudnn": facts.cudnn},
        flags=facts.flags,
        machine=facts.machine,
        server=device.server,
    )
