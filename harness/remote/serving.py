"""Serving: the remote side of a connection: it runs device servers like a worker, and sends their observations."""

from __future__ import annotations

import os
import pickle
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.remote.messages import Answer, Describe, Facts, Serve, encode
from tf_opdiff.harness.store.run_directories.open_run import here


def serve(folder: str, receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Answers messages; when the connection ends, so does this process, with all that it started.

    A thread notices the end, also while the process is busy. The kernel then kills the device server, and the fork
    server deletes the folder once more.

    Args:
      folder: the folder of all temporary files.
      receive: waits for the next message; raises EOFError at the end of the connection.
      send: sends the bytes of an answer.
    """
    tempfile.tempdir = folder
    fork_server.use_as_scratch(folder)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(folder, receive, inbox.put), daemon=True).start()
    servers: dict[Any, DeviceServer] = {}
    while True:
        message = inbox.get()
        if isinstance(message, (Describe, Serve)):
            fork_server.allow_to_start(message.start_timeout)
        if isinstance(message, Describe):
            answer: Facts | Answer = _facts()
        elif isinstance(message, Serve):
            device, memory = message.device, memory_limit(message.device, message.processes)
            servers = {device: DeviceServer(device, Path(folder), timeout=message.timeout, memory=memory)}
            answer = Answer(Observation({}), running=False)
        elif isinstance(message, Request):
            [(device, _, observation)] = run_all(servers, [{d: [message] for d in servers}], lambda *_: None)
            answer = Answer(observation, running=servers[device].running)
        else:
            raise message
        send(encode(answer))


def _facts() -> Facts:
    facts = here()
    return Facts(**{name: facts[name] for name in Facts.__struct_fields__})


def _read(folder: str, receive: Callable[[], bytes], put: Callable[[Any], None]) -> None:
    """Puts each message that comes, or the error of reading it; ends the process at the end of the connection."""
    while True:
        try:
            put(pickle.loads(receive()))
        except EOFError:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)
        except Exception as why:  # noqa: BLE001  such as a pickle for a newer NumPy: the other side learns it
            put(why)
