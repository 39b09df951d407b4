"""Time that a device server spends in collections of garbage, and its largest resident set.

The programs are those of the benchmark `overhead`. `walked`: each collection walks all objects
that TensorFlow has made since its import. `frozen`: a collection freezes its survivors, as device servers do; see
`harness.device.programs.garbage`. The difference grows with the number of programs.
"""

from __future__ import annotations

import gc
import pickle
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import apart
from bench.measurements.overhead import chosen, requests
from tf_opdiff.harness.spec.plan import Device


def measured(path: Path, way: str) -> tuple[float, float, int]:
    """Seconds in collections, seconds in all, and the largest resident set in MiB, of the pickled requests."""
    from tf_opdiff.harness.device.installation.tensorflow_setup import configure
    from tf_opdiff.harness.device.programs.garbage import Collector
    from tf_opdiff.harness.device.programs.program_cache import ProgramCache
    from tf_opdiff.harness.device.server import observe

    spent, frozen = 0.0, Collector.collect

    def timed(self: Collector) -> None:
        nonlocal spent
        begin = time.perf_counter()
        frozen(self) if way == "frozen" else gc.collect()
        spent += time.perf_counter() - begin

    Collector.collect = timed  # type: ignore[method-assign]
    configure(Device("cpu"))
    programs, begin = ProgramCache(Device("cpu")), time.perf_counter()
    for request in pickle.loads(path.read_bytes()):
        observe(request.with_arrays(), programs)
    largest = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    return spent, time.perf_counter() - begin, int(largest) >> 10


def rows() -> list[dict[str, object]]:
    """A row for each way."""
    items, table = chosen(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "requests")
        with np.errstate(all="ignore"):
            path.write_bytes(pickle.dumps(requests(items)))
        for way in ("walked", "frozen"):
            spent, seconds, largest = apart("-m", "bench.measurements.garbage", str(path), way).split()
            row = {"way": way, "items": len(items), "collections, s": float(spent), "all, s": float(seconds)}
            table.append(row | {"largest, MiB": int(largest)})
    return table


if __name__ == "__main__":
    print(*measured(Path(sys.argv[1]), sys.argv[2]))
