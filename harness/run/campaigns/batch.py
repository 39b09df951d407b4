"""Batch: items that run on one worker, on this machine or on a node of a cluster."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.installation.kernel_list import listed
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.paths import ROOT, cache_folder
from tf_opdiff.harness.remote.remote_server import Remote, RemoteServer
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.code_digest import CodeDigest
from tf_opdiff.harness.store.run_directories.environment import apart, of_devices, of_flags
from tf_opdiff.harness.store.run_directories.open_run import here
from tf_opdiff.harness.system.file_cache import FileCache
from tf_opdiff.harness.system.interrupt import Scratch

if TYPE_CHECKING:  # it imports pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recordings.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Work:
    """The settings that every worker of a run receives, as plain data.

    Attributes:
      suites: the module of the suites.
      context: the part of all records that is the same.
      timeout: seconds after which a running op counts as hung.
      only: case ids; no other case runs, unless empty.
      sweeps: whether sweeps of every input of a 16-bit dtype run too.
      recorded: the names of recorded devices, which are in the folder `recordings`.
      remotes: the servers of remote devices, by name.
      xla_cache: whether programs that XLA compiled for a CPU are kept on disk, and those of earlier runs loaded.
      cache: whether inputs and promises of earlier runs of the same code are used, and those of this run stored.
    """

    suites: str
    context: Context
    plans: Sequence[Plan]
    timeout: float
    only: Collection[str] = ()
    sweeps: bool = False
    recorded: Sequence[str] = field(default_factory=tuple)
    remotes: Mapping[str, Remote] = field(default_factory=dict)
    cache: bool = True
    xla_cache: bool = False
    recordings: Path = ROOT / "recordings"

    @property
    def live(self) -> list[Device]:
        """The devices that are not recorded, each once."""
        return [device for device in dict.fromkeys(plan.device for plan in self.plans) if not device.recorded]


def runner(
    work: Work, directory: Path, worker: str, *, processes: int, recordings: Mapping[str, Recording] | None = None
) -> Runner:
    """A runner whose shard and logs are in a run directory; this many `processes` share the machine's memory."""
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    servers = {d: _server(work, d, logs, processes) for d in work.live}
    by_device = {recording.device: recording for recording in (recordings or {}).values()}
    shard = rundir.open_shard(directory, worker)
    cache = PromiseCache(FileCache(cache_folder() / "promises"), code_digest(work.suites)) if work.cache else None
    cases = CaseRunner(work.context, work.plans, servers, by_device, work.only, cache)
    return Runner(cases, shard, Slots(device for device in work.live if device.local), sweeps=work.sweeps)


def _server(work: Work, device: Device, logs: Path, processes: int) -> DeviceServer:
    """The server of a device, which starts with its first request."""
    if device.server:
        return RemoteServer(device, logs, work.remotes[device.server], timeout=work.timeout, processes=processes)
    kept = work.xla_cache and device.type == "cpu"
    return DeviceServer(device, logs, timeout=work.timeout, memory=memory_limit(device, processes), kept=kept)


@functools.cache
def code_digest(suites: str) -> CodeDigest:
    """The digest of this process's code, computed once: a node runs many batches in one process."""
    return CodeDigest(suites)


def circumstances(machine: Mapping[str, Any], devices: Iterable[str]) -> dict[str, str]:
    """The facts of a machine that must be the same on all machines of a run.

    `machine` is a result of `harness.store.run_directories.open_run.here`.
    """
    details = {d: machine["devices"].get(d, {}) for d in devices}
    return {
        "TensorFlow": machine["versions"]["tensorflow"],
        "NumPy": machine["versions"]["numpy"],
        **of_devices(details, {"CUDA": machine["cuda"], "cuDNN": machine["cudnn"]}),
        **of_flags(machine["flags"], onednn_known=any(variant.ONEDNN in one for one in details.values())),
    }


def differing(machines: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A line for each circumstance in which machines differ; `machines` maps their names to their circumstances."""
    return [
        f"{name}: " + ", ".join(f"{value or 'none'} on {machine}" for machine, value in values.items())
        for name, values in apart(machines).items()
    ]


def node_facts() -> dict[str, Any]:
    """The facts of this node: those of `harness.store.run_directories.open_run.here`, its `kernels`, and whether a
    token guards it."""
    return _node_facts()  # a plain function: Ray takes no cached one


@functools.cache
def _node_facts() -> dict[str, Any]:
    # multiprocessing runs the main program again in each process that it starts; here that is Ray's
    sys.modules["__main__"].__dict__.pop("__file__", None)
    return here() | {"kernels": listed(), "guarded": os.environ.get("RAY_AUTH_MODE", "").lower() == "token"}


@functools.cache
def _catalog(suites: str) -> Catalog:
    return Catalog.load(suites)


def run(work: Work, items: Sequence[str], expected: Mapping[str, str]) -> tuple[dict[str, list[Record] | str], bytes]:
    """Runs the items with these ids on this node: their records or how they failed, and the lines of the shard.

    `expected` are the circumstances of the campaign.

    Raises:
      ValueError: this node's circumstances differ.
    """
    machine = node_facts()
    devices = [str(device.plain) for device in work.live]
    differences = differing({"the campaign": expected, machine["host"]: circumstances(machine, devices)})
    if differences:
        raise ValueError(f"a node differs from the others: {'; '.join(differences)}")
    origin = Origin(machine["versions"]["tensorflow"], machine["cuda"], machine["host"])
    work = replace(work, context=replace(work.context, here=origin))
    by_id = {item.id: item for item in _catalog(work.suites).items}
    results: dict[str, list[Record] | str] = {}
    with Scratch() as directory:
        (directory / "shards").mkdir()
        worker = runner(work, directory, "node", processes=os.cpu_count() or 1, recordings=_recordings(work))
        try:
            for name in items:
                try:
                    results[name] = worker.run(by_id[name])
                except Exception:  # noqa: BLE001  the suite's own fault: the item's test reports it, and others run on
                    results[name] = traceback.format_exc()
        finally:
            worker.close()
        return results, b"".join(path.read_bytes() for path in sorted((directory / "shards").iterdir()))


def _recordings(work: Work) -> Mapping[str, Recording]:
    if not work.recorded:
        return {}
    from tf_opdiff.harness.store.recordings import recording  # it imports pyarrow

    return recording.find(work.recorded, ROOT / work.recordings)
