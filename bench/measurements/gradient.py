"""One gradient check of a float32 input of 1,000 elements: ours against `tf.test.compute_gradient`, in one run.

Ours: a request to a device server and back, the reference and its VJP, the comparison. Theirs: the Jacobian by the
gradient and by central differences, and the largest difference between both. Each is timed the second time, with
everything built. `seen` is the smallest relative error, planted in one element of the gradient, that the check notices.
Theirs notices an error if the largest difference moves by half.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import apart
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Spec

SIZE = 1000
OPS = ("square", "exp", "tanh")
ERRORS = tuple(2.0**-k for k in range(1, 24))


def _spec(name: str) -> Spec:
    spec = Catalog.load("tf_opdiff.suites.ops").specs[name]
    recipe = {"gradient": lambda draw, dtype: (draw.uniform(SIZE, low=-1.0, high=1.0).astype(dtype),)}
    return replace(spec, recipes=recipe, upstreams={})


SPECS = tuple(_spec(name) for name in OPS)


def _planted(array: np.ndarray, error: float) -> np.ndarray:
    """The array with one element, of moderate size, off by a relative error."""
    at = int(np.argmin(np.abs(np.abs(array) - np.median(np.abs(array)))))
    changed = array.copy()
    changed.reshape(-1)[at] *= 1 + error
    return changed


def _smallest(seen: Callable[[float], bool]) -> float:
    found = [e for e in ERRORS if seen(e)]
    return min(found) if found else float("nan")


def ours(spec: Spec, folder: Path) -> tuple[float, float]:
    """Seconds of a check, and the smallest error that it sees."""
    case, plan = Case(spec, "float32", "gradient"), Plan(Device("cpu"), "eager")
    item = Item("bench.measurements.gradient", spec, "float32")
    servers = {plan.device: DeviceServer(plan.device, folder)}
    try:
        for _ in range(2):
            begin = time.perf_counter()
            running = RunningCase.of(item, case, [plan])
            list(running.run([plan], servers))
            seen = running.observations[plan]
            want = running.expected[plan].wants["grad[0]"]
            found = compare(seen.quantities["grad[0]"], want, "grad[0]")
            seconds = time.perf_counter() - begin
    finally:
        servers[plan.device].stop()
    assert not found.kind, found
    value = seen.quantities["grad[0]"].value
    assert value is not None
    return seconds, _smallest(lambda e: bool(compare(Result("value", _planted(value, e)), want, "grad[0]").kind))


def theirs(name: str) -> tuple[float, float]:
    """Seconds of `tf.test.compute_gradient` and the smallest error that its largest difference shows."""
    import tensorflow as tf

    spec = next(s for s in SPECS if s.name == name)
    (x,) = Case(spec, "float32", "gradient").inputs()
    for _ in range(2):
        begin = time.perf_counter()
        theory, numeric = tf.test.compute_gradient(lambda t: spec.program(tf, t), [tf.constant(x)])
        error = np.abs(theory[0] - numeric[0]).max()
        seconds = time.perf_counter() - begin

    def seen(e: float) -> bool:
        diagonal = np.diag(_planted(np.diag(theory[0]), e) - np.diag(theory[0]))
        return bool(np.abs(theory[0] + diagonal - numeric[0]).max() > 1.5 * error)

    return seconds, _smallest(seen)


def rows() -> list[dict[str, object]]:
    """A row an op."""
    made: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for spec in SPECS:
            our_seconds, our_error = ours(spec, Path(folder))
            their_seconds, their_error = map(float, apart("-m", "bench.measurements.gradient", spec.name).split())
            made.append(
                {
                    "op": spec.name,
                    "ours, s": our_seconds,
                    "compute_gradient, s": their_seconds,
                    "ratio (goal 50)": their_seconds / our_seconds,
                    "seen by ours": our_error,
                    "seen by compute_gradient": their_error,
                }
            )
    return made


if __name__ == "__main__":
    print(*theirs(sys.argv[1]))
