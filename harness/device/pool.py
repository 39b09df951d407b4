"""Device servers as a worker holds them: forked when needed, asked one thing at a time, replaced when they fail.

multiprocessing's fork server rather than a process pool: each server has a device of its own and one request in
flight, so that the operating system's word that the process ended is at once attributed, without polling. Nothing that
a server does, or fails to do, keeps its worker waiting beyond the request's deadline.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from tf_opdiff.harness.device.channel import Channel
from tf_opdiff.harness.device.log import QUOTED
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.process import GRACE, START_TIMEOUT, Child, scratch, uninterrupted
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.shared_memory import taken
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.plan import Device

OLDEST_TF = "2.18"


def _serve(channel: Channel, device: Device) -> None:
    if device.type == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # before CUDA starts: a CPU server takes no GPU memory
    from tf_opdiff.harness.device.server import serve

    serve(channel, device)


def _describe(channel: Channel) -> None:
    import tensorflow as tf

    if Version(tf.__version__) < Version(OLDEST_TF):  # what `describe` needs may not be there
        channel.send({"versions": {"tensorflow": tf.__version__}})
        return
    from tf_opdiff.harness.device.server import describe

    channel.send(describe())


def _no_start(child: Child | None, error: BaseException, log: Path, offset: int) -> str:
    """Why a process sent no first message; its log began at `offset`."""
    if child is None:
        return f"no process can be started: {error}. {_end_of(log, offset)}".strip()
    if isinstance(error, TimeoutError):
        return f"it does not start: {error}. {child.log.quoted}".strip()
    how = child.kill(GRACE)
    return f"its process ended at the start{how and f' ({how})'}: {child.log.quoted}"


def _end_of(log: Path, offset: int) -> str:
    """The end of the log text that was written from byte `offset` on."""
    try:
        with log.open("rb") as file:
            file.seek(max(offset, file.seek(0, os.SEEK_END) - QUOTED))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def probe() -> dict[str, Any]:
    """What TensorFlow lists on this machine, asked in a process of its own; see `harness.device.server.describe`.

    Raises:
      RuntimeError: that process died or did not answer.
    """
    child, log = None, scratch() / "probe.log"
    try:
        with uninterrupted():
            child = Child(_describe, log=log)
        return child.receive(START_TIMEOUT)
    except (EOFError, OSError) as error:
        why = _no_start(child, error, log, 0)
        raise RuntimeError(f"TensorFlow could not be asked for its devices: {why}") from error
    finally:
        if child is not None:
            child.kill()


def memory_share(processes: int) -> int:
    """The bytes that each of so many processes on the CPU may allocate."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(4 << 30, int(0.8 * total) // processes)


class DeviceServer:
    """A worker's handle on one device; the process behind it is started when needed."""

    def __init__(self, device: Device, logs: Path, *, timeout: float = 120.0, memory: int = 0) -> None:
        """`timeout` is in seconds for one request, `memory` in bytes (0: no limit); `logs` is a directory."""
        self.device, self.timeout, self.memory = device, timeout, memory
        self._log = logs / f"{str(device).replace(':', '-')}-{os.getpid()}.log"
        self._child: Child | None = None
        self._request: Request | None = None
        self._began = self._deadline = 0.0

    def _start(self) -> str:
        offset = self._log.stat().st_size if self._log.exists() else 0
        try:
            settings = variant.environment(self.device.variants)
        except OSError as why:
            return str(why)
        try:
            with uninterrupted():
                self._child = Child(_serve, self.device, log=self._log, memory=self.memory, settings=settings)
            absent = self._child.receive(START_TIMEOUT)
        except (EOFError, OSError) as error:
            absent = _no_start(self._child, error, self._log, offset)
        if absent:
            self.stop()
        return absent

    def submit(self, request: Request) -> str:
        """Sends a request; returns why it can't be sent, or nothing."""
        absent = self._start() if self._child is None else ""
        if absent:
            return absent
        assert self._child is not None
        self._child.log.mark()
        self._request, self._began = request, time.monotonic()
        self._deadline = self._began + self.timeout
        with contextlib.suppress(OSError):  # it is gone: `collect` says how
            self._child.submit(request)
        return ""

    def watch(self, selector: selectors.BaseSelector) -> None:
        """Has a selector wake up when there may be an answer, or more of a request can be sent."""
        assert self._child is not None
        channel = self._child.channel
        selector.register(channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.sending else 0))
        selector.register(self._child.end, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Of the process that there is."""
        assert self._child is not None
        return self._child.pid

    @property
    def remaining(self) -> float:
        """Seconds until the request counts as hung."""
        return max(0.0, self._deadline - time.monotonic())

    def collect(self) -> Observation | None:
        """The answer to the request, a crash if the process ended, a hang if its time is up; None until then."""
        child, request = self._child, self._request
        assert child is not None and request is not None
        ended = child.ended  # before the last look: what it sent is there by now
        try:
            moved = child.channel.flush() | child.channel.fetch()
            answer = child.channel.take() if child.channel.complete else None
        except Exception:  # noqa: BLE001  the connection is closed, or what came through it is no answer
            return self._lost(self._crash(child))
        if answer is not None:
            observation: Observation = taken(answer, request.segment)
            if observation.poisoned:
                self.stop()
            return observation
        if ended:
            return self._lost(self._crash(child))
        if moved and not self.remaining:  # the rest of a large answer waits for us, who may have looked at it late
            self._deadline = time.monotonic() + GRACE
        if self.remaining:
            return None
        message = f"no answer within {self.timeout:g} s. {child.log.quoted}"
        return self._lost(Result("hang", code="TIMEOUT", message=message))

    @staticmethod
    def _crash(child: Child) -> Result:
        how = child.kill(GRACE)
        if how:
            return Result("crash", code=how, message=child.log.quoted)
        message = f"it closed its connection and lived on until it was killed. {child.log.quoted}"
        return Result("crash", code="CLOSED", message=message)

    def _lost(self, result: Result) -> Observation:
        assert self._request is not None
        self.stop()
        return Observation.of_all(self._request.quantities, result, seconds=time.monotonic() - self._began)

    def stop(self) -> None:
        """Ends the process; the next request starts another."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def run_all(
    servers: Mapping[Device, DeviceServer],
    requests: Mapping[Device, Sequence[Request]],
    before: Callable[[Device, Request], None],
) -> Iterator[tuple[Device, Request, Observation]]:
    """Runs each device's requests in order, all devices at once; calls `before` each, and yields what was observed.

    A device has its next request before its last observation is yielded: it works while that is looked at.
    """
    queues = {device: deque(todo) for device, todo in requests.items()}
    asked: dict[Device, Request] = {}
    ready: list[tuple[Device, Request, Observation]] = []
    while asked or any(queues.values()) or ready:
        for device, queue in queues.items():
            if queue and device not in asked:
                request = asked[device] = queue.popleft()
                before(device, request)
                absent = servers[device].submit(request)
                if absent:
                    del asked[device]
                    result = Result("crash", code="NO_SERVER", message=f"no server for {device}: {absent}")
                    ready.append((device, request, Observation.of_all(request.quantities, result)))
        yield from ready
        ready = []
        if not asked:
            continue
        with selectors.DefaultSelector() as selector:
            for device in asked:
                servers[device].watch(selector)
            selector.select(min(servers[device].remaining for device in asked))
        for device in list(asked):
            observation = servers[device].collect()
            if observation is not None:
                ready.append((device, asked.pop(device), observation))


def memory_limit(device: Device, processes: int = 1) -> int:
    """What a server may allocate: a CPU server its share of the machine's memory; drivers of others map far more."""
    return memory_share(processes) if device.type == "cpu" else 0
