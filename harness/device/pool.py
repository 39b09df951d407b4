"""Pool: requests on several devices at once."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, not_run
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.spec.plan import Device


def run_all(
    servers: Mapping[Device, DeviceServer],
    batches: Iterable[Mapping[Device, Sequence[Request]]],
    before: Callable[[Device, Request], None],
) -> Iterator[tuple[Device, Request, Observation]]:
    """Runs each device's requests in order, all devices at once; yields each observation with its device and request.

    Calls `before` each request. A device receives its next request before its last observation is yielded, so it works
    while the caller judges that observation. One batch is taken ahead, while the devices work on earlier requests, so
    they work while the caller computes that batch.
    """
    source = iter(batches)
    queues: dict[Device, deque[Request]] = {}
    running: dict[Device, Request] = {}
    ready: list[tuple[Device, Request, Observation]] = []
    ahead = next(source, None)
    while ahead is not None or running or any(queues.values()):
        if ahead is not None and not (queues and all(queues[device] or device in running for device in queues)):
            for device, requests in ahead.items():
                queues.setdefault(device, deque()).extend(requests)
            ahead = None
        for device, queue in queues.items():
            if queue and device not in running:
                request = running[device] = queue.popleft()
                before(device, request)
                failure = servers[device].submit(request)
                if failure:
                    del running[device]
                    ready.append((device, request, not_run(device, request, failure)))
        yield from ready
        ahead = next(source, None) if ahead is None else ahead
        ready = _collected(servers, running) if running else []
    yield from ready


def _collected(
    servers: Mapping[Device, DeviceServer], running: dict[Device, Request]
) -> list[tuple[Device, Request, Observation]]:
    """Waits until a running device may have answered; takes the answers, with their devices, out of `running`."""
    with selectors.DefaultSelector() as selector:
        for device in running:
            servers[device].watch(selector)
        selector.select(min(servers[device].remaining for device in running))
    observations = {device: servers[device].collect() for device in running}
    return [(d, running.pop(d), observation) for d, observation in observations.items() if observation is not None]
