"""Open run: makes the directory of a new run, or reopens one, and collects the facts of the machine."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from tf_opdiff.harness.device import server_python
from tf_opdiff.harness.device.locks import Slots
from tf_opdiff.harness.device.probe import OLDEST_TF, probe
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store import rundir
from tf_opdiff.harness.store.environment import FLAGS, apart, joined, of_devices
from tf_opdiff.harness.store.json_text import json_of
from tf_opdiff.harness.store.revision import commit
from tf_opdiff.harness.store.run_info import RunInfo

if TYPE_CHECKING:  # these modules import pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recorded_device import About
    from tf_opdiff.harness.store.recording import Recording


def open_run(
    asked: Sequence[Device],
    chosen: str | None,
    recordings: Mapping[str, Recording] | None = None,
    there: Mapping[str, Any] | None = None,
) -> tuple[Path, RunInfo]:
    """Checks that the devices are present, and makes the run's directory, with the kernels in `there`, if any.

    Args:
      asked: the devices to run on; if empty, all that TensorFlow lists.
      chosen: the directory; without it, a new one under runs/.
      recordings: the recordings of the recorded devices, by name. If all devices are recorded, TensorFlow is not
        started.
      there: the result of `here` on the machine that runs the devices, if that is another machine.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old; or as in `harness.device.locks.own_folder`.
      LookupError: a device is not present.
      ValueError: the directory can't be made, or holds a run.
    """
    recorded = {name: recording.about for name, recording in (recordings or {}).items()}
    if there is None:
        live = not asked or any(not d.recorded for d in asked)
        there = here() if live else _of_recordings(recorded.values())
    listed = there["devices"]
    devices = list(asked) or [Device.parse(d) for d in listed]
    require(devices, listed)
    Slots(d for d in devices if not d.recorded)  # raises here, not in each worker
    try:
        directory = rundir.create(ROOT / "runs", chosen=Path(chosen) if chosen else None)
    except OSError as error:
        raise ValueError(f"run directory: {error}") from error
    if there.get("kernels"):
        _write_kernels(directory / "kernels.json", there["kernels"])
    info = RunInfo(
        run=directory.resolve().name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=there["host"],
        tf=there["versions"]["tensorflow"],
        cuda=there["cuda"],
        versions={**there["versions"], "cudnn": there["cudnn"], "suite commit": commit(ROOT)},
        flags=there["flags"],
        machine=there["machine"],
        devices={
            str(d): {**(recorded[str(d)].facts if d.recorded else facts_of(d, listed)), "asked": True} for d in devices
        }
        | {d: {**about, "asked": False} for d, about in listed.items() if Device.parse(d) not in devices},
    )
    return directory, info


def _write_kernels(path: Path, kernels: Mapping[str, Any]) -> None:
    """Writes the kernels that TensorFlow has; a run without room for them goes on without this file."""
    try:
        path.write_text(json_of(kernels))
    except OSError:
        path.unlink(missing_ok=True)


def require(devices: Iterable[Device], listed: Collection[str]) -> None:
    """Refuses devices that TensorFlow does not list, except recorded ones and logical CPUs.

    Raises:
      LookupError: the message names the absent devices.
    """
    absent = [d for d in devices if str(d.plain) not in listed and d.type != "cpu" and not d.recorded]
    if absent:
        names = ", ".join(map(str, absent))
        raise LookupError(f"device {names} is not there; TensorFlow lists {', '.join(listed)}")


def reopen_run(
    directory: Path, recordings: Mapping[str, Recording], there: Mapping[str, Any] | None = None
) -> tuple[Path, RunInfo]:
    """Reads the run of a directory, to continue it; `there` is the same as in `open_run`.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old.
      ValueError: TensorFlow, a device's model or CUDA differs from the run's, or oneDNN was on and is off now.
    """
    info = RunInfo.load(directory)
    live = [d for d, about in info.devices.items() if about["asked"] and d not in recordings]
    if live:
        there = there or here()
        devices = {d: facts_of(Device.parse(d), there["devices"]) for d in live}
        ran = {"TensorFlow": info.tf, **of_devices({d: info.devices[d] for d in live}, {"CUDA": info.cuda})}
        now = {"TensorFlow": there["versions"]["tensorflow"], **of_devices(devices, {"CUDA": there["cuda"]})}
        for fact, values in apart({0: ran, 1: now}).items():
            before, after = (value or "none" for value in values.values())
            raise ValueError(f"--resume {directory}: it was run with {fact} {before}; here is {after}")
    info.state, info.ended, info.exit_status = "running", "", None
    return directory, info


def here() -> dict[str, Any]:
    """The facts of this machine: `harness.device.tensorflow_setup.describe`, `host` and `flags`.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old; or device servers run another version of Python, which
        does not have the same bytecode.
    """
    facts = probe()
    tf = facts["versions"]["tensorflow"]
    if Version(tf) < Version(OLDEST_TF):
        raise RuntimeError(f"TensorFlow {tf} is too old: expected {OLDEST_TF} or newer")
    ours, theirs = Version(platform.python_version()), Version(facts["versions"]["python"])
    if ours.release[:2] != theirs.release[:2]:
        expected = f"{ours.major}.{ours.minor}, as this process"
        raise RuntimeError(f"{server_python.VARIABLE}: expected Python {expected}, got {theirs}")
    return facts | _surroundings()


def facts_of(device: Device, listed: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The facts of a device of this machine: those that TensorFlow lists, and those that its variants imply."""
    plain = listed.get(str(device.plain), listed.get("cpu", {}) if device.type == "cpu" else {})
    return {**plain, **variant.facts(device.variants)}


def _surroundings() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "flags": {name: os.environ[name] for name in FLAGS if name in os.environ},
    }


def _of_recordings(recorded: Iterable[About]) -> dict[str, Any]:
    """The facts in the form of `here` for a run whose devices are all recorded: the recordings' facts, merged."""
    abouts = list(recorded)
    versions = joined(about.versions for about in abouts)
    return {
        "devices": {},
        "cudnn": versions.get("cudnn", ""),
        **joined({"cuda": about.cuda, "host": about.host} for about in abouts),
        "versions": versions | joined({"tensorflow": about.tf} for about in abouts),
        "flags": joined(about.flags for about in abouts),
        "machine": joined(about.machine for about in abouts),
    }
