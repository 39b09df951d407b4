"""Worker: a process that owns a device for an analysis, and answers requests of its parent."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.peer import GRACE
from tf_opdiff.harness.device.processes.process import Child, start_failure
from tf_opdiff.harness.device.processes.server_handle import memory_limit
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.system.interrupt import uninterrupted


class WorkerEnded(Exception):
    """The process crashed, or did not answer in time; the message says which."""


class RequestFailed(Exception):
    """A request raised an exception in the process; the message says which."""


class Worker:
    """A process that owns a device; use it in a `with` statement."""

    def __init__(self, device: Device, log: Path, timeout: float, *arguments: Any, server: str = "") -> None:
        """Starts the process.

        Args:
          device: the device.
          log: the file of the process's output.
          timeout: seconds for one request.
          arguments: those of the server's class, after the device.
          server: `MODULE:CLASS` of the server. By default a `ReplayServer`, or without arguments a `SubjectServer`.

        Raises:
          RuntimeError: the device is not available, or no process can be started.
        """
        self._timeout = timeout
        child = None
        try:
            settings = variant.environment(device.variants)
            with uninterrupted():
                memory = memory_limit(device)
                child = Child(_serve, device, arguments, server, log=log, memory=memory, settings=settings)
            failure = child.receive(fork_server.START_TIMEOUT)
        except (EOFError, OSError) as error:
            failure = start_failure(child, error, log, 0)
        if failure or child is None:
            raise RuntimeError(f"no process for {device}: {failure}")
        self._child = child

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()

    def ask(self, name: str, *arguments: Any) -> Any:
        """The answer to a request: what the server's method of this name returns.

        Raises:
          RequestFailed: the method raised an exception.
          WorkerEnded: the process ended, or did not answer in time; it is of no further use.
        """
        self._child.log.mark()
        try:
            self._child.submit((name, arguments))
            while self._child.channel.sending:
                self._child.channel.flush()
            answer, problem = self._child.receive(self._timeout)
        except TimeoutError as why:
            self._child.kill()
            raise WorkerEnded(f"hang: no answer within {self._timeout:g} s") from why
        except (EOFError, OSError) as why:
            how = self._child.kill(GRACE) or "CLOSED"
            raise WorkerEnded(f"crash: {how} {self._child.log.quoted}".strip()) from why
        if problem:
            raise RequestFailed(problem)
        return answer


def _serve(channel: Channel, device: Device, arguments: tuple[Any, ...], name: str) -> None:
    """Answers requests until the other side hangs up; the first message says why the device is not available."""
    if device.type == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # before CUDA starts: a CPU server takes no GPU memory
    from tf_opdiff.harness.device.installation.tensorflow_setup import configure

    channel.send(configure(device))
    server: Any = _server(name, arguments)(device, *arguments)
    while True:
        try:
            name, words = channel.receive()
        except EOFError:
            return
        try:
            answer = getattr(server, name)(*words), ""
        except Exception as error:  # noqa: BLE001  every error of the user's program is an answer
            answer = None, f"{type(error).__name__}: {error}"
        channel.send(answer)


def _server(name: str, arguments: tuple[Any, ...]) -> Any:
    """The class of the server with this name; see `Worker`."""
    from tf_opdiff.model.recordings.replay_server import ReplayServer
    from tf_opdiff.model.subject_server import SubjectServer

    if not name:
        return ReplayServer if arguments else SubjectServer
    module, _, own = name.partition(":")
    return getattr(import_module(module), own)
