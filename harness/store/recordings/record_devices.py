"""Record devices: turns the observations of a run into recordings of its devices; `python -m harness record`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.extended import extended
from tf_opdiff.harness.store.recordings import recording_writer
from tf_opdiff.harness.store.recordings.recorded_device import PARTIAL, About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.recordings.recording_format import SUFFIX
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import partition
from tf_opdiff.harness.store.shards.merged import Cell, Merged, merge

#: The facts of a remote device that a recording has elsewhere than among the details of its device.
_OF_REMOTE = ("server", "device", "tensorflow", "cuda", "host", "processor")
#: Part of the fault of merged runs that disagree; no partial recording may have it.
OTHER_BITS = "have other bits in"


@dataclass(frozen=True)
class Part:
    """A run to record or to merge: its directory, its `run.json`, and the merged lines of its shards."""

    directory: Path
    info: RunInfo
    merged: Merged

    @classmethod
    def read(cls, directory: Path) -> Part:
        """Reads a run directory.

        Raises:
          FileNotFoundError: the directory lacks run.json or shards/.
          ValueError: an older version wrote the run, without digests of programs.
        """
        if not (directory / "run.json").is_file() or not (directory / "shards").is_dir():
            raise FileNotFoundError(f"{directory}: expected the directory of a run, with run.json and shards/")
        part = cls(directory, RunInfo.load(directory), merge([directory]))
        if any("program" not in line for line in part.merged.results.values()):
            raise ValueError(f"{directory}: its shards have no digests of programs: run it again with this version")
        return part

    @property
    def faults(self) -> list[str]:
        """The reasons why the run is not complete, one sentence each; empty for a complete run."""
        info, reasons = self.info, []
        if info.state == "running":
            reasons.append("it never ended, or its directory was copied before it did")
        elif info.state == "interrupted":
            reasons.append("it was interrupted")
        if info.not_run:
            reasons.append(f"{len(info.not_run)} of its {info.planned} planned cells have no result")
        if self.merged.damaged:
            reasons.append(f"{self.merged.damaged} lines of its shards are cut or damaged")
        unfinished = self.merged.started - self.merged.results.keys()
        if unfinished and not info.not_run:
            reasons.append(f"{len(unfinished)} cells were started and have no result")
        return [f"run {info.run}: {reason}" for reason in reasons]

    @property
    def devices(self) -> list[str]:
        """The devices that took part."""
        return [name for name, about in self.info.devices.items() if about["asked"]]

    def about(self, device: str, name: str) -> About:
        """The header of a recording of one device, under a name.

        Raises:
          ValueError: the device is a recording itself.
        """
        info = self.info
        properties = info.devices[device]
        if "recorded" in properties:
            raise ValueError(f"{self.directory}: {device} is a recording already: merge the runs that it was made of")
        details = {k: str(v) for k, v in properties.items() if k != "asked"}
        remote = {name: details.pop(name) for name in _OF_REMOTE} if "server" in properties else None
        return About(
            name=name,
            device=device if remote is None else remote["device"],
            tf=self.tf(device),
            cuda=info.cuda if remote is None else remote["cuda"],
            host=info.host if remote is None else remote["host"],
            details=details,
            versions=info.versions if remote is None else {"tensorflow": remote["tensorflow"]},
            flags=info.flags if remote is None else {},  # they are among the details
            machine=info.machine if remote is None else {"processor": remote["processor"]},
            runs=(info.run,),
            started=info.started,
            faults=tuple(self.faults),
        )

    def recording_of(self, device: str) -> Recording | None:
        """The recording that `merge` made of a device of several runs; None in a run that ran the device itself."""
        path = self.directory / "recordings" / f"{device}{SUFFIX}"
        return Recording(path) if "recorded" in self.info.devices[device] and path.is_file() else None

    def tf(self, device: str) -> str:
        """The version of TensorFlow that ran a device."""
        return str(self.info.devices[device].get("tensorflow", self.info.tf))

    def lines(self, device: str) -> dict[Cell, dict[str, Any]]:
        """The result lines of a device's cells."""
        return {cell: line for cell, line in self.merged.results.items() if cell[1] == device}


class Choices(NamedTuple):
    """How a recording is written.

    base     a recording in the same folder: results that are equal there are left out.
    partial  whether a run that lacks results may be recorded. The header says what it lacks; on the recorded device,
             other cases are unavailable.
    extend   whether a recording of the same name keeps its cells that the run lacks.
    """

    base: str = ""
    partial: bool = False
    extend: bool = False


#: Records a whole run with all its results, and replaces a recording of the same name.
_PLAIN = Choices()


def record(run: Path, devices: Sequence[str], name: str, folder: Path, choices: Choices = _PLAIN) -> list[Path]:
    """Writes recordings `NAME@TENSORFLOW` of the named devices of a run, or of all; returns their paths.

    Raises:
      LookupError: the run has no such device.
      ValueError: the run is not complete and may not be partial, one name is given for several devices, the base
        can't be one, or the recording to extend is of another device.
    """
    part = Part.read(run)
    if part.faults and not choices.partial:
        raise ValueError(f"expected a whole run: {'; '.join(part.faults)}. --partial records the results that it has")
    wanted = list(devices) or part.devices
    for device in wanted:
        if device not in part.devices:
            raise LookupError(f"{run} has no device {device!r}; there is {', '.join(part.devices)}")
    if name and len(wanted) > 1:
        raise ValueError(f"--name {name}: the run has several devices ({', '.join(wanted)}): choose one by --device")
    paths = []
    for device in wanted:
        called = name or device.partition("@")[0].replace(":", "-").removesuffix("-0")
        full = f"{called}@{part.tf(device)}"
        merged = part.recording_of(device)
        about = replace(merged.about, name=full) if merged else part.about(device, full)
        about = _as_partial(about) if choices.partial else about
        table = merged.table if merged else recording_writer.table(part.lines(device))
        if choices.extend and (path := folder / f"{full}{SUFFIX}").exists():
            about, table = extended(about, table, Recording(path))
        paths.append(recording_writer.write_rows(about, table, folder, base=choices.base))
    return paths


def _as_partial(about: About) -> About:
    """The header that states what the run lacks as a fact of the device, so that it is no fault of runs with it."""
    lacks = "; ".join(fault for fault in about.faults if OTHER_BITS not in fault)
    details = {**about.details, PARTIAL: lacks} if lacks else about.details
    return replace(about, details=details, faults=tuple(fault for fault in about.faults if OTHER_BITS in fault))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `python -m harness record`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run")
    parser.add_argument("--device", action="append", default=[], metavar="D", help="default: all devices of the run")
    name = "the recording's name: h100 gives h100@2.21.0; default: the name of the device"
    parser.add_argument("--name", default="", metavar="NAME", help=name)
    base = "a recording in DIR, such as cpu@2.21.0: results that are equal there are not stored again; default: none"
    parser.add_argument("--base", default="", metavar="OTHER", help=base)
    partial = "record a run that did not end, or lacks results; the recording says so"
    parser.add_argument("--partial", action="store_true", help=partial)
    extend = "keep what a recording of this name has of the device, and the run lacks"
    parser.add_argument("--extend", action="store_true", help=extend)
    durations = "write the seconds of each item to durations.csv, by which --shard balances shards"
    parser.add_argument("--durations", action="store_true", help=durations)
    parser.add_argument("--out", type=Path, default=ROOT / "recordings", metavar="DIR", help="default: recordings/")


def main(options: argparse.Namespace) -> int:
    """Writes the recordings; prints the path and size of each."""
    choices = Choices(options.base, options.partial, options.extend)
    for path in record(options.run, options.device, options.name, options.out, choices):
        print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")
    if options.durations:
        partition.write(merge([options.run]).seconds, options.out / partition.DURATIONS.name)
    return 0
