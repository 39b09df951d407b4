"""Batch: the items that one worker is given, as plain data that goes to any machine; and what becomes of them there."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_opdiff.harness.device.locks import Slots
from tf_opdiff.harness.device.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.judge.verdict import Context, Origin
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store import rundir
from tf_opdiff.harness.store.environment import apart, of_devices, of_flags
from tf_opdiff.harness.store.open_run import here
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.system.interrupt import Scratch

if TYPE_CHECKING:  # it takes pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Work:
    """What every worker of a run is told: the module of the suites, what records share, the plans, and the settings.

    `timeout` is in seconds for one run of an op. `recorded` names the recordings among the devices, which are in
    `recordings`.
    """

    suites: str
    context: Context
    plans: Sequence[Plan]
    timeout: float
    only: Collection[str] = ()
    sweeps: bool = False
    recorded: Sequence[str] = field(default_factory=tuple)
    recordings: Path = ROOT / "recordings"

    @property
    def live(self) -> list[Device]:
        """The devices that are run, each once."""
        return [device for device in dict.fromkeys(plan.device for plan in self.plans) if not device.recorded]


def runner(
    work: Work, directory: Path, worker: str, *, processes: int, recordings: Mapping[str, Recording] | None = None
) -> Runner:
    """A runner whose shard and logs are in a run directory; `processes` is how many share this machine's memory."""
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    servers = {d: DeviceServer(d, logs, timeout=work.timeout, memory=memory_limit(d, processes)) for d in work.live}
    kept = {recording.device: recording for recording in (recordings or {}).values()}
    shard = rundir.open_shard(directory, worker)
    return Runner(work.context, work.plans, servers, shard, Slots(work.live), work.only, work.sweeps, kept)


def circumstances(there: Mapping[str, Any], devices: Iterable[str]) -> dict[str, str]:
    """What has to be the same on all machines of a run, of what `harness.store.open_run.here` says of one of them."""
    details = {d: there["devices"].get(d, {}) for d in devices}
    return {
        "TensorFlow": there["versions"]["tensorflow"],
        "NumPy": there["versions"]["numpy"],
        **of_devices(details, {"CUDA": there["cuda"], "cuDNN": there["cudnn"]}),
        **of_flags(there["flags"], onednn_known=any(variant.ONEDNN in one for one in details.values())),
    }


def differing(all_told: Mapping[str, Mapping[str, str]]) -> list[str]:
    """In what machines differ, one line each; `all_told` has the circumstances of each by its name."""
    return [
        f"{name}: " + ", ".join(f"{value or 'none'} on {machine}" for machine, value in said.items())
        for name, said in apart(all_told).items()
    ]


def look() -> dict[str, Any]:
    """What `harness.store.open_run.here` says of a node, and whether it is `guarded` by a token; asked once a
    process."""
    return _looked()


@functools.cache
def _looked() -> dict[str, Any]:
    # multiprocessing has each process that it starts run the main program again, which is Ray's here
    sys.modules["__main__"].__dict__.pop("__file__", None)
    return here() | {"guarded": os.environ.get("RAY_AUTH_MODE", "").lower() == "token"}


@functools.cache
def _catalog(suites: str) -> Catalog:
    return Catalog.load(suites)


def run(work: Work, items: Sequence[str], expected: Mapping[str, str]) -> tuple[dict[str, list[Record] | str], bytes]:
    """Runs the named items on this node: the records of each, or how it failed; and the lines of the shard.

    Args:
      work: what all workers are told.
      items: ids of items.
      expected: the circumstances of the run.

    Raises:
      ValueError: this node's are others.
    """
    there = look()
    asked = [str(device.plain) for device in work.live]
    others = differing({"the campaign": expected, there["host"]: circumstances(there, asked)})
    if others:
        raise ValueError(f"a node differs from the others: {'; '.join(others)}")
    origin = Origin(there["versions"]["tensorflow"], there["cuda"], there["host"])
    work = replace(work, context=replace(work.context, here=origin))
    chosen = {item.id: item for item in _catalog(work.suites).items}
    found: dict[str, list[Record] | str] = {}
    with Scratch() as directory:
        (directory / "shards").mkdir()
        worker = runner(work, directory, "node", processes=os.cpu_count() or 1, recordings=_recordings(work))
        try:
            for name in items:
                try:
                    found[name] = worker.run(chosen[name])
                except Exception:  # noqa: BLE001  the suite's own fault: it is told where it belongs, and the rest runs
                    found[name] = traceback.format_exc()
        finally:
            worker.close()
        return found, b"".join(path.read_bytes() for path in sorted((directory / "shards").iterdir()))


def _recordings(work: Work) -> Mapping[str, Recording]:
    if not work.recorded:
        return {}
    from tf_opdiff.harness.store import recording  # it takes pyarrow

    return recording.find(work.recorded, ROOT / work.recordings)
