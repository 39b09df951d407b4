"""Open run: makes the directory of a new run, or reopens one, and collects the facts of the machine."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.version import Version

from tf_opdiff.harness.device.installation.probe import OLDEST_TF, probe
from tf_opdiff.harness.device.processes import server_python
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.environment import FLAGS, apart, joined, of_devices
from tf_opdiff.harness.store.run_directories.revision import commit
from tf_opdiff.harness.store.run_directories.run_info import RunInfo


def open_run(
    asked: Sequence[Device],
    chosen: str | None,
    elsewhere: Mapping[str, About] | None = None,
    there: Mapping[str, Any] | None = None,
) -> tuple[Path, RunInfo]:
    """Checks that the devices are present, and makes the run's directory, with the kernels in `there`, if any.

    Args:
      asked: the devices to run on; if empty, all that TensorFlow lists.
      chosen: the directory; without it, a new one under runs/.
      elsewhere: the facts of recorded and of remote devices, by name. If there is no other device, TensorFlow is not
        started here.
      there: the result of `here` on the machine that runs the devices, if that is another machine.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old; or as in `harness.device.processes.locks.own_folder`.
      LookupError: a device is not present.
      ValueError: the directory can't be made, or holds a run.
    """
    elsewhere = elsewhere or {}
    if there is None:
        there = here() if not asked or any(d.local for d in asked) else _of_abouts(elsewhere.values())
    listed = there["devices"]
    devices = list(asked) or [Device.parse(d) for d in listed]
    require(devices, listed)
    Slots(d for d in devices if d.local)  # raises here, not in each worker
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
            str(d): {**(facts_of(d, listed) if d.local else elsewhere[str(d)].facts), "asked": True} for d in devices
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


def require(devices: Iterable[Device], listed: Collection[str], lister: str = "TensorFlow") -> None:
    """Refuses devices that TensorFlow does not list, except recorded and remote ones, and logical CPUs.

    Raises:
      LookupError: the message names the absent devices.
    """
    absent = [d for d in devices if str(d.plain) not in listed and d.type != "cpu" and d.local]
    if absent:
        names = ", ".join(map(str, absent))
        hint = "; TensorFlow's name of a CUDA device is gpu:0" if any(d.type == "cuda" for d in absent) else ""
        raise LookupError(f"device {names} is not there; {lister} lists {', '.join(listed)}{hint}")


def reopen_run(
    directory: Path, elsewhere: Mapping[str, About], there: Mapping[str, Any] | None = None
) -> tuple[Path, RunInfo]:
    """Reads the run of a directory, to continue it; `elsewhere` and `there` are the same as in `open_run`.

    Raises:
      RuntimeError: TensorFlow does not start, or is too old.
      ValueError: TensorFlow, a device's model or CUDA differs from the run's, or oneDNN was on and is off now.
    """
    info = RunInfo.load(directory)
    for name in (name for name, about in elsewhere.items() if about.server):
        _check_unchanged(directory, *(_of_remote(name, facts) for facts in (info.devices[name], elsewhere[name].facts)))
    live = [d for d, about in info.devices.items() if about["asked"] and d not in elsewhere]
    if absent := [name for name in live if "server" in info.devices[name]]:
        raise ValueError(f"--resume {directory}: the file of devices has no server for {', '.join(absent)}")
    if live:
        there = there or here()
        devices = {d: facts_of(Device.parse(d), there["devices"]) for d in live}
        ran = {"TensorFlow": info.tf, **of_devices({d: info.devices[d] for d in live}, {"CUDA": info.cuda})}
        now = {"TensorFlow": there["versions"]["tensorflow"], **of_devices(devices, {"CUDA": there["cuda"]})}
        _check_unchanged(directory, ran, now)
    info.state, info.ended, info.exit_status = "running", "", None
    return directory, info


def _of_remote(name: str, facts: Mapping[str, str]) -> dict[str, str]:
    """The facts of a remote device that must not change during a run."""
    software = {f"{name}'s {fact}": facts.get(fact, "") for fact in ("tensorflow", "cuda", "processor")}
    return software | of_devices({name: facts}, {})


def _check_unchanged(directory: Path, ran: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raises ValueError for a fact that differs from that of a run."""
    for fact, values in apart({0: ran, 1: now}).items():
        before, after = (value or "none" for value in values.values())
        raise ValueError(f"--resume {directory}: it was run with {fact} {before}; here is {after}")


def here() -> dict[str, Any]:
    """The facts of this machine: `harness.device.installation.tensorflow_setup.describe`, `host` and `flags`.

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
    return variant.facts(plain, device.variants)


def _surroundings() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "flags": {name: os.environ[name] for name in FLAGS if name in os.environ},
    }


def _of_abouts(elsewhere: Iterable[About]) -> dict[str, Any]:
    """The facts in the form of `here` for a run without devices of this machine: the facts of its devices, merged."""
    abouts = list(elsewhere)
    versions = joined(about.versions for about in abouts)
    return {
        "devices": {},
        "cudnn": versions.get("cudnn", ""),
        **joined({"cuda": about.cuda, "host": about.host} for about in abouts),
        "versions": versions | joined({"tensorflow": about.tf} for about in abouts),
        "flags": joined(about.flags for about in abouts),
        "machine": joined(about.machine for about in abouts),
    }
