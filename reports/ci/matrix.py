"""Matrix: the jobs of a night, from `.ci/matrix.toml`: which TensorFlow, on which Python, machine and devices."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

import msgspec

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device

DATA = ROOT / ".ci" / "matrix.toml"
#: Where a job leaves its run, in a folder of its own name.
LEFT = "night/jobs"
#: How many jobs GitHub makes of one matrix at most.
MOST = 256
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class TensorFlow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TensorFlow: `requires`, what pip installs; `python`, versions that there are wheels for, the newest last."""

    name: str
    requires: str
    python: list[str]
    may_fail: bool = False


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine: the labels of its runner, the devices that are asked for there, in how many shards.

    `cuda` says whether TensorFlow's package comes with CUDA, `minutes` what a job may take, `merge` the machine whose
    runs its own are merged with, `default` whether a night has it without being told so.
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
        """What its tox environments' names end with."""
        return "-cuda" if self.cuda else ""


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file: the tier, every TensorFlow, every machine."""

    tier: str
    tensorflow: list[TensorFlow]
    machine: list[Machine]


class Job(msgspec.Struct, frozen=True):
    """A job: its tox environment and what pytest is given there; its run belongs to a `group`, which is merged.

    `group` is empty where nothing is kept of it.
    """

    name: str
    tox: str
    python: str
    runs_on: list[str]
    minutes: int
    may_fail: bool
    group: str
    arguments: list[str]


def load(path: Path = DATA) -> Matrix:
    """Reads the data.

    Raises:
      OSError: the file can't be read.
      ValueError: it is malformed; the message says where, what was expected and what came.
    """
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=Matrix)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    for what, rows in (("tensorflow", found.tensorflow), ("machine", found.machine)):
        names = [row.name for row in rows]
        if bad := [n for n in names if not _NAME.fullmatch(n) or names.count(n) > 1]:
            raise ValueError(f"{path}: {what} {bad[0]!r}: expected names of a-z, 0-9 and -, each once")
    for tf in found.tensorflow:
        if not tf.python or not all(re.fullmatch(r"3\.\d+", p) for p in tf.python) or "-" in tf.name:
            raise ValueError(f"{path}: tensorflow {tf.name!r}: expected a name without -, and Pythons such as '3.12'")
    for machine in found.machine:
        into = [m.name for m in found.machine if not m.merge]
        if machine.merge and machine.merge not in into:
            raise ValueError(f"{path}: machine {machine.name!r}: merge {machine.merge!r}: expected {', '.join(into)}")
        for device in machine.devices:
            try:
                Device.parse(device)
            except ValueError as error:
                raise ValueError(f"{path}: machine {machine.name!r}: {error}") from error
        if not 1 <= machine.shards <= MOST:
            raise ValueError(f"{path}: machine {machine.name!r}: shards: expected 1 to {MOST}, got {machine.shards}")
        if machine.minutes < 1 or not machine.runs_on or not machine.devices:
            raise ValueError(f"{path}: machine {machine.name!r}: expected labels, devices, shards, minutes")
    for group in {group_of(m) for m in found.machine}:
        devices = [d for m in found.machine if group_of(m) == group for d in m.devices]
        if twice := [d for d in devices if devices.count(d) > 1]:
            raise ValueError(f"{path}: {twice[0]} stands twice among the machines that are merged with {group!r}")
    return found


def jobs(matrix: Matrix, machines: Collection[str] = ()) -> list[Job]:
    """The jobs whose runs are kept: each TensorFlow × machine × shard, on the newest Python of that TensorFlow.

    Args:
      matrix: the data.
      machines: their names; without any, those that are there by default.

    Raises:
      LookupError: there is no such machine.
      ValueError: more jobs than GitHub makes of a matrix.
    """
    made = []
    for tf in matrix.tensorflow:
        for machine in _chosen(matrix, machines):
            for i in range(1, machine.shards + 1):
                of = f"-{i}of{machine.shards}" if machine.shards > 1 else ""
                name, python = f"{tf.name}-{machine.name}{of}", tf.python[-1]
                given = [
                    "--tier",
                    matrix.tier,
                    "--repro",
                    "all",
                    *(word for d in machine.devices for word in ("--device", d)),
                ]
                given += ["--shard", f"{i}/{machine.shards}"] if machine.shards > 1 else []
                group, env = f"{tf.name}-{group_of(machine)}", environment(tf, python) + machine.factors
                made.append(Job(name, env, python, machine.runs_on, machine.minutes, tf.may_fail, group, given))
    if not made or len(made) > MOST:
        raise ValueError(f"{len(made)} jobs: expected 1 to {MOST}, which is what GitHub makes of one matrix")
    return made


def smoke(matrix: Matrix, machines: Collection[str] = ()) -> list[Job]:
    """The jobs of which nothing is kept: the smoke tier with each TensorFlow on its other Pythons, on one machine."""
    machine = _chosen(matrix, machines)[0]
    given = ["--tier", "smoke", "--device", machine.devices[0]]
    return [
        Job(f"{env}-{machine.name}", env, python, machine.runs_on, machine.minutes, tf.may_fail, "", given)
        for tf in matrix.tensorflow
        for python in tf.python[:-1]
        for env in [environment(tf, python) + machine.factors]
    ]


def environment(tf: TensorFlow, python: str) -> str:
    """The name of a tox environment, such as `py312-tf220`."""
    return f"py{python.replace('.', '')}-{tf.name}"


def group_of(machine: Machine) -> str:
    """The machine into whose runs its own are merged."""
    return machine.merge or machine.name


def _chosen(matrix: Matrix, names: Collection[str]) -> list[Machine]:
    there = {m.name: m for m in matrix.machine}
    if unknown := [name for name in names if name not in there]:
        raise LookupError(f"machine {unknown[0]!r}: expected some of {', '.join(there)}")
    return [m for m in matrix.machine if (m.name in names if names else m.default)]


def chosen() -> list[str]:
    """The machines that `$NIGHTLY_MACHINES` names, with commas between; none stands for those there by default."""
    return [name for name in re.split(r"[,\s]+", os.environ.get("NIGHTLY_MACHINES", "")) if name]
