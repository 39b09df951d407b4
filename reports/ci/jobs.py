"""Jobs: the jobs of a night, derived from the matrix."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

import msgspec

from tf_opdiff.reports.ci.matrix import MOST, Machine, Matrix, TensorFlow, group_of


class Job(msgspec.Struct, frozen=True):
    """A job: its tox environment and the arguments of pytest.

    `group` names the merged run that the job's run becomes part of; it is empty for a job whose run is not stored.
    """

    name: str
    tox: str
    python: str
    runs_on: list[str]
    minutes: int
    may_fail: bool
    group: str
    arguments: list[str]


def jobs(matrix: Matrix, machines: Collection[str] = ()) -> list[Job]:
    """The jobs whose runs are stored: each TensorFlow × machine × shard, on the newest Python of that TensorFlow.

    Args:
      matrix: the data.
      machines: their names; if empty, the default machines.

    Raises:
      LookupError: a machine is unknown.
      ValueError: there are no jobs, or more than GitHub allows in one matrix.
    """
    rows = [
        _job(matrix, tf, machine, shard)
        for tf in matrix.tensorflow
        for machine in _selected(matrix, machines)
        for shard in range(1, machine.shards + 1)
    ]
    if not rows or len(rows) > MOST:
        raise ValueError(f"{len(rows)} jobs: expected 1 to {MOST}, the most that GitHub allows in one matrix")
    return rows


def _job(matrix: Matrix, tf: TensorFlow, machine: Machine, shard: int) -> Job:
    """The job of one shard, counted from 1."""
    python, sharded = tf.python[-1], machine.shards > 1
    name = f"{tf.name}-{machine.name}" + (f"-{shard}of{machine.shards}" if sharded else "")
    arguments = ["--tier", matrix.tier, "--repro", "all"]
    arguments += [word for device in machine.devices for word in ("--device", device)]
    arguments += ["--shard", f"{shard}/{machine.shards}"] if sharded else []
    group, tox = f"{tf.name}-{group_of(machine)}", environment(tf, python) + machine.factors
    return Job(name, tox, python, machine.runs_on, machine.minutes, tf.may_fail, group, arguments)


def smoke(matrix: Matrix, machines: Collection[str] = ()) -> list[Job]:
    """The jobs whose runs are not stored: the smoke tier, each TensorFlow on its other Pythons, on one machine."""
    machine = _selected(matrix, machines)[0]
    arguments = ["--tier", "smoke", "--device", machine.devices[0]]
    return [
        Job(f"{tox}-{machine.name}", tox, python, machine.runs_on, machine.minutes, tf.may_fail, "", arguments)
        for tf in matrix.tensorflow
        for python in tf.python[:-1]
        for tox in [environment(tf, python) + machine.factors]
    ]


def environment(tf: TensorFlow, python: str) -> str:
    """The name of a tox environment, such as `py312-tf220`."""
    return f"py{python.replace('.', '')}-{tf.name}"


def _selected(matrix: Matrix, names: Collection[str]) -> list[Machine]:
    known = [machine.name for machine in matrix.machine]
    if unknown := [name for name in names if name not in known]:
        raise LookupError(f"machine {unknown[0]!r}: expected some of {', '.join(known)}")
    return [machine for machine in matrix.machine if (machine.name in names if names else machine.default)]


def requested_machines() -> list[str]:
    """The machines that `$NIGHTLY_MACHINES` names, separated by commas; empty for the default machines."""
    return [name for name in re.split(r"[,\s]+", os.environ.get("NIGHTLY_MACHINES", "")) if name]
