"""Pool: requests on several devices at once."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.server_handle import DeviceServer
from tf_opdiff.harness.spec.plan import Device


def run_all(
    servers: Mapping[Device, DeviceServer],
    requests: Mapping[Device, Sequence[Request]],
    before: Callable[[Device, Request], None],
) -> Iterator[tuple[Device, Request, Observation]]:
    """Runs each device's requests in order, all devices at once; yields each observation with its device and request.

    Calls `before` each request. A device receives its next request before its last observation is yielded, so it works
    while the caller judges that observation.
    """
    queues = {device: deque(todo) for device, todo in requests.items()}
    running: dict[Device, Request] = {}
    ready: list[tuple[Device, Request, Observation]] = []
    while running or any(queues.values()) or ready:
        for device, queue in queues.items():
            if queue and device not in running:
                request = running[device] = queue.popleft()
                before(device, request)
                failure = servers[device].submit(request)
                if failure:
                    del running[device]
                    result = Result("crash", code="NO_SERVER", message=f"no server for {device}: {failure}")
                    ready.append((device, request, Observation.of_all(request.quantities, result)))
        yield from ready
        ready = []
        if not running:
            continue
        with selectors.DefaultSelector() as selector:
            for device in running:
                servers[device].watch(selector)
            selector.select(min(servers[device].remaining for device in running))
        for device in list(running):
            observation = servers[device].collect()
            if observation is not None:
                ready.append((device, running.pop(device), observation))
