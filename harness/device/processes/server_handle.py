"""Device server handle: a worker's side of one device server, which is started when needed and replaced when it fails.

multiprocessing's fork server rather than a process pool: each server has its own device and one request in flight, so
the kernel's notice that a process ended belongs to a known request, without polling. A server never keeps its worker
waiting beyond the request's deadline.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.peer import GRACE, Peer, exit_name
from tf_opdiff.harness.device.processes.process import TRIES, UNTOLD, Child, start_failure
from tf_opdiff.harness.device.processes.shared_memory import from_shared_memory
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.system.interrupt import uninterrupted


def _serve(channel: Channel, device: Device, kept: bool) -> None:
    if device.type == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # before CUDA starts: a CPU server takes no GPU memory
    from tf_opdiff.harness.device.server import serve

    serve(channel, device, kept=kept)


class DeviceServer:
    """A worker's handle on one device; the process behind it is started when needed."""

    #: Seconds by which an answer that still arrives may be late, each time that more of it has come.
    _grace = GRACE

    def __init__(
        self, device: Device, logs: Path, *, timeout: float = 120.0, memory: int = 0, kept: bool = False
    ) -> None:
        """The handle of a device.

        Args:
          device: the device; its process starts with the first request.
          logs: the folder of its log.
          timeout: seconds for one request.
          memory: bytes (0: no limit).
          kept: whether programs that XLA compiled are kept on disk, and loaded by later servers.
        """
        self.device, self.timeout, self.memory, self._kept = device, timeout, memory, kept
        self._log = logs / f"{str(device).replace(':', '-')}-{os.getpid()}.log"
        self._child: Peer | None = None
        self._request: Request | None = None
        self._began = self._deadline = 0.0
        self._runs = 0  # of the request

    def _start(self) -> str:
        """Starts the process; returns why the device is not available, or an empty text.

        The process starts again if its fork server has ended, which would tell how it ends.
        """
        failure = ""
        for _ in range(TRIES):
            failure, again = self._start_once()
            if not again:
                break
        return failure

    def _start_once(self) -> tuple[str, bool]:
        """Starts the process; returns why the device is not available, and whether it may be after another start."""
        offset = self._log.stat().st_size if self._log.exists() else 0
        try:
            settings = variant.environment(self.device.variants)
        except OSError as why:
            return str(why), False
        again, child = False, None
        try:
            with uninterrupted():
                self._child = child = Child(
                    _serve, self.device, self._kept, log=self._log, memory=self.memory, settings=settings
                )
            failure: str = child.receive(fork_server.START_TIMEOUT)
        except (EOFError, OSError) as error:
            again = child is not None and child.orphaned
            failure = start_failure(child, error, self._log, offset)
        if failure:
            self.stop()
        return failure, again

    def submit(self, request: Request) -> str:
        """Sends a request; returns why that is not possible, or an empty text.

        If nobody collected the answer to the last request, the process is replaced: that answer would pass for the
        answer to this request. It is replaced as well if its fork server has ended, which would tell how it ends.
        """
        self._runs = 0
        return self._submit(request)

    def _submit(self, request: Request) -> str:
        self._runs += 1
        if self._request is not None or (self._child is not None and self._child.orphaned):
            self.stop()
        failure = self._start() if self._child is None else ""
        if failure:
            return failure
        assert self._child is not None
        self._child.log.mark()
        self._request, self._began = request, time.monotonic()
        self._deadline = self._began + self._limit
        with contextlib.suppress(OSError):  # the process has ended: `collect` says how
            self._child.submit(request)
        return ""

    def watch(self, selector: selectors.BaseSelector) -> None:
        """Registers with a selector, which wakes up when an answer may have come or more of a request can be sent."""
        assert self._child is not None
        channel = self._child.channel
        selector.register(channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.sending else 0))
        selector.register(self._child.end, selectors.EVENT_READ)

    @property
    def running(self) -> bool:
        """Whether there is a process that takes a request; otherwise the next request starts one."""
        return self._child is not None

    @property
    def pid(self) -> int:
        """The id of the running process."""
        assert self._child is not None
        return self._child.pid

    @property
    def _limit(self) -> float:
        """Seconds for the request."""
        return self.timeout

    @property
    def remaining(self) -> float:
        """Seconds until the request counts as hung."""
        return max(0.0, self._deadline - time.monotonic())

    def collect(self) -> Observation | None:
        """The answer to the request; a crash if the process ended; a hang if its time is up; until then None."""
        child, request = self._child, self._request
        assert child is not None and request is not None
        ended = child.ended  # read before the last fetch: all that the process sent has arrived by then
        try:
            progress = child.channel.flush() | child.channel.fetch()
            answer = child.channel.take() if child.channel.complete else None
        except Exception as why:  # noqa: BLE001  the connection is closed, or the message is no answer
            return self._ended(child, request, why)
        if answer is not None:
            observation = self._observation(answer, request)
            self._request = None
            if observation.poisoned:
                self.stop()
            return observation
        if ended:
            return self._ended(child, request)
        if progress and not self.remaining:  # this process may be late to fetch the rest of a large answer
            self._deadline = time.monotonic() + self._grace
        if self.remaining:
            return None
        message = f"no answer within {self._limit:g} s. {child.log.quoted}"
        return self._lost(Result("hang", code="TIMEOUT", message=message))

    def _observation(self, answer: Any, request: Request) -> Observation:
        """The observation in an answer to a request."""
        return from_shared_memory(answer, request.segment)

    def _ended(self, child: Peer, request: Request, why: Exception | None = None) -> Observation | None:
        """The crash of the process; None if the request runs again. `why` is the error of reading the answer, if any.

        It does if the fork server of the process has ended: nobody learns then how the process ended.
        """
        if not child.orphaned:
            crash = self._crash(child)
            if not child.orphaned or crash.code != exit_name(UNTOLD):
                return self._lost(crash)
        self.stop()
        failure = f"{self._runs} times it ended together with its fork server, which would tell how"
        if self._runs < TRIES:
            failure = self._submit(request)
            if not failure:
                return None
        return not_run(self.device, request, failure)

    @staticmethod
    def _crash(child: Peer) -> Result:
        how = child.kill(GRACE)
        if how:
            return Result("crash", code=how, message=child.log.quoted)
        message = f"it closed its connection and lived on until it was killed. {child.log.quoted}"
        return Result("crash", code="CLOSED", message=message)

    def _lost(self, result: Result) -> Observation:
        assert self._request is not None
        quantities = self._request.quantities
        self.stop()
        return Observation.of_all(quantities, result, seconds=time.monotonic() - self._began)

    def stop(self) -> None:
        """Ends the process; the next request starts another."""
        self._request = None
        if self._child is not None:
            self._child.kill()
            self._child = None


def not_run(device: Device, request: Request, failure: str) -> Observation:
    """The observation of a request that no server could run, or none to its end: a fault, and not the op's."""
    fault = f"no server for {device}: {failure}"
    return Observation.of_all(request.quantities, Result("error", code="NO_SERVER", message=fault), fault=fault)


def memory_limit(device: Device, processes: int = 1) -> int:
    """The bytes that each of this many servers may allocate: on the CPU a share of the memory, at least 4 GiB.

    0, no limit, on other devices: their drivers map far more memory than they use.
    """
    if device.type != "cpu":
        return 0
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(4 << 30, int(0.8 * total) // processes)
