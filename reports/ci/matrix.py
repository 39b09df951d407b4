"""Matrix: the data file `.ci/matrix.toml`: every TensorFlow, Python, machine and device of a night."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device

DATA = ROOT / ".ci" / "matrix.toml"
#: The folder in which a job writes its run, in a folder of its own name.
RUNS = "night/jobs"
#: The most jobs that GitHub allows in one matrix.
MOST = 256
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class TensorFlow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TensorFlow: `requires`, the requirement for pip; `python`, the versions with wheels, the newest last."""

    name: str
    requires: str
    python: list[str]
    may_fail: bool = False


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine of the matrix.

    Attributes:
      name: the machine's name.
      runs_on: the labels of its runner.
      devices: the devices that its runs request.
      minutes: the time limit of a job.
      shards: into how many jobs a run is divided.
      cuda: whether to install TensorFlow with CUDA.
      merge: the machine with whose runs its own are merged.
      default: whether a night uses it unless the user names machines.
    """

    name: str
    runs_on: list[str]
    devices: list[str]
    minutes: int
    shards: int = 1
    cuda: bool = False
    merge: str = ""
    default: bool = False

    @property
    def factors(self) -> str:
        """The end of the names of its tox environments."""
        return "-cuda" if self.cuda else ""


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file: the tier, every TensorFlow, every machine."""

    tier: str
    tensorflow: list[TensorFlow]
    machine: list[Machine]


def load(path: Path = DATA) -> Matrix:
    """Reads the data.

    Raises:
      OSError: the file can't be read.
      ValueError: it is malformed; the message names the place, what was expected and what came.
    """
    try:
        matrix = msgspec.toml.decode(path.read_bytes(), type=Matrix)
        _check_names("tensorflow", [tf.name for tf in matrix.tensorflow])
        _check_names("machine", [machine.name for machine in matrix.machine])
        for tf in matrix.tensorflow:
            _check_tensorflow(tf)
        for machine in matrix.machine:
            _check_machine(machine, [m.name for m in matrix.machine if not m.merge])
        _check_groups(matrix)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return matrix


def _check_names(kind: str, names: list[str]) -> None:
    if bad := [name for name in names if not _NAME.fullmatch(name) or names.count(name) > 1]:
        raise ValueError(f"{kind} {bad[0]!r}: expected names of a-z, 0-9 and -, each once")


def _check_tensorflow(tf: TensorFlow) -> None:
    if not tf.python or not all(re.fullmatch(r"3\.\d+", p) for p in tf.python) or "-" in tf.name:
        raise ValueError(f"tensorflow {tf.name!r}: expected a name without -, and Pythons such as '3.12'")


def _check_machine(machine: Machine, mergeable: list[str]) -> None:
    """Raises a ValueError if a machine is malformed; `mergeable` names those that others may be merged with."""
    if machine.merge and machine.merge not in mergeable:
        raise ValueError(f"machine {machine.name!r}: merge {machine.merge!r}: expected {', '.join(mergeable)}")
    for device in machine.devices:
        try:
            Device.parse(device)
        except ValueError as error:
            raise ValueError(f"machine {machine.name!r}: {error}") from error
    if not 1 <= machine.shards <= MOST:
        raise ValueError(f"machine {machine.name!r}: shards: expected 1 to {MOST}, got {machine.shards}")
    if machine.minutes < 1 or not machine.runs_on or not machine.devices:
        raise ValueError(f"machine {machine.name!r}: expected labels, devices, shards, minutes")


def _check_groups(matrix: Matrix) -> None:
    """Raises a ValueError if a device occurs twice among machines whose runs are merged."""
    for group in {group_of(machine) for machine in matrix.machine}:
        devices = [device for m in matrix.machine if group_of(m) == group for device in m.devices]
        if twice := [device for device in devices if devices.count(device) > 1]:
            raise ValueError(f"{twice[0]}: expected once among the machines that are merged with {group!r}, got twice")


def group_of(machine: Machine) -> str:
    """The machine with whose runs its own are merged."""
    return machine.merge or machine.name
