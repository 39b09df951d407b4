"""Opening: a new run's directory, and what is known of the machine that it runs on."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import Version

from harness import rundir
from harness.commit import commit
from harness.devices import OLDEST_TF, ROOT, probe
from harness.plan import Device

FLAGS = ("TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "XLA_FLAGS", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE")


def open_run(asked: Sequence[Device], chosen: str | None) -> tuple[Path, rundir.RunInfo]:
    """Asks TensorFlow what is there, and makes the run's directory.

    Args:
      asked: the devices to run on; none of them stands for all that TensorFlow lists.
      chosen: the directory; without it, a new one under runs/.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old.
      LookupError: a device is not there.
      ValueError: the directory can't be made, or holds a run.
    """
    logs = Path(tempfile.mkdtemp(prefix="opdiff-"))
    try:
        there = probe(logs / "probe.log")
    finally:
        shutil.rmtree(logs, ignore_errors=True)
    tf = there["versions"]["tensorflow"]
    if Version(tf) < Version(OLDEST_TF):
        raise RuntimeError(f"TensorFlow {tf} is too old: expected {OLDEST_TF} or newer")
    listed = there["devices"]
    devices = list(asked) or [Device.parse(d) for d in listed]
    absent = [d for d in devices if str(d) not in listed and d.type != "cpu"]
    if absent:
        names = ", ".join(map(str, absent))
        raise LookupError(f"device {names} is not there; TensorFlow lists {', '.join(listed)}")
    try:
        directory = rundir.create(ROOT / "runs", chosen=Path(chosen) if chosen else None)
    except OSError as error:
        raise ValueError(f"run directory: {error}") from error
    info = rundir.RunInfo(
        run=directory.resolve().name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
        tf=tf,
        cuda=there["cuda"],
        versions={**there["versions"], "cudnn": there["cudnn"], "suite commit": commit(ROOT)},
        flags={name: os.environ[name] for name in FLAGS if name in os.environ},
        machine={"system": platform.platform(), "processor": _processor(), "cores": str(os.cpu_count())},
        devices={str(d): {**listed.get(str(d), {}), "asked": True} for d in devices}
        | {d: {**about, "asked": False} for d, about in listed.items() if Device.parse(d) not in devices},
    )
    return directory, info


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
