"""Cluster: machines that run batches: how Ray reaches them, what each has, and what a batch needs there."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from packaging.version import Version

from tf_opdiff.harness.device.locks import per_device
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run import batch
from tf_opdiff.harness.run.node import LOOPBACK, QUIET, guard, loopback, resources
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.environment import joined
from tf_opdiff.harness.store.open_run import here
from tf_opdiff.harness.store.processor import described

LOCAL = "local"
OLDEST = "2.52"  # the first with token authentication
#: Bytes of shared memory on a machine, for what is on its way between processes.
STORE = 200 << 20
#: What of the repository nodes do not get, beside what git ignores.
EXCLUDES = [".git", ".venv", "runs", ".cache", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"]
_MISSING = f"a campaign needs Ray Core: pip install 'ray>={OLDEST}'"


def engine() -> ModuleType:
    """Ray.

    Raises:
      RuntimeError: it is not installed, or too old.
    """
    for name, value in {**QUIET, "RAY_NUM_REDIS_GET_RETRIES": "4"}.items():  # how often it tries to reach a head
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as why:
        raise RuntimeError(f"{_MISSING} ({why})") from why
    if Version(ray.__version__) < Version(OLDEST):
        raise RuntimeError(f"{_MISSING}; here is {ray.__version__}, which knows no tokens")
    return ray


def connect(address: str, asked: Sequence[Device]) -> None:
    """Reaches the cluster at `HOST:PORT`, or starts one of this machine alone where that is `local`.

    Raises:
      ValueError: the address has another form, or is beyond loopback and there is no token.
      RuntimeError: there is no Ray here, or no cluster there.
    """
    told: dict[str, Any] = {"address": address}
    if address == LOCAL:
        accelerators = not asked or any(d.type != "cpu" and not d.recorded for d in asked)
        has = resources(here()["devices"]) if accelerators else {}
        os.environ.update({**LOOPBACK, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)})
        folder = tempfile.mkdtemp(prefix="opdiff-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        told |= {"_temp_dir": folder, "include_dashboard": False, "object_store_memory": STORE}
        told |= {"num_cpus": len(os.sched_getaffinity(0)), "num_gpus": has.pop("GPU", 0), "resources": has}
    else:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"--address {address!r}: expected HOST:PORT, such as 127.0.0.1:6379")
        guard("the cluster's address", host, os.environ)
        os.environ.update(LOOPBACK if loopback(host) else {})
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=20).close()  # Ray tries for minutes
        except OSError as error:
            raise RuntimeError(f"no campaign at {address}: {error}") from error
    ray = engine()
    sent = {"working_dir": str(ROOT), "excludes": EXCLUDES, "env_vars": QUIET}
    try:
        ray.init(**told, runtime_env=sent, log_to_driver=False, logging_level="error")
    except (ray.exceptions.RayError, RuntimeError, OSError) as error:
        refused = "InvalidAuthToken" in f"{error} {error.__cause__}"
        why = "the token here is not the cluster's, or there is none" if refused else reason(error)
        raise RuntimeError(f"no campaign at {address}: {why}") from error


def reason(error: BaseException) -> str:
    """One line of what went wrong: the cause's, where a task failed or something else was the cause."""
    while (cause := getattr(error, "cause", None) or error.__cause__) is not None:
        error = cause
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = "".join(c if c.isprintable() else "?" for c in lines[0].partition(". ")[0][:300]) if lines else ""
    return f"{type(error).__name__}: {told}"


def share(count: int) -> float:
    """How much of a node's accelerators of a type a batch asks for, whose devices go up to the count-th.

    As many batches as servers may share the first one; see `harness.device.locks`.
    """
    return count if count > 1 else 1 / per_device()


def needs(devices: Iterable[Device]) -> dict[str, Any]:
    """What a batch on these devices, all of them side by side, asks of a node; in Ray's words."""
    most: dict[str, int] = {}
    for device in devices:
        if not device.recorded and device.type != "cpu":
            most[device.type.upper()] = max(most.get(device.type.upper(), 0), device.index + 1)
    need: dict[str, Any] = {"num_cpus": 1, "resources": {name: share(n) for name, n in most.items() if name != "GPU"}}
    return need | ({"num_gpus": share(most["GPU"])} if "GPU" in most else {})


def able(need: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The nodes that are alive and have what is needed, were they idle."""
    wanted = {"CPU": need["num_cpus"], "GPU": need.get("num_gpus", 0), **need["resources"]}
    nodes = [node for node in engine().nodes() if node["Alive"]]
    return [node for node in nodes if all(node["Resources"].get(name, 0) >= n for name, n in wanted.items())]


def lacking(need: Mapping[str, Any]) -> str:
    """One line saying that no node has what is needed, and what there is."""
    wanted = ["CPU", *(["GPU"] if "num_gpus" in need else []), *need["resources"]]
    there = [_has(node) for node in engine().nodes() if node["Alive"]]
    return f"no node has {' and '.join(wanted)} together; there is {', '.join(there) or 'none'}"


def _has(node: Mapping[str, Any]) -> str:
    own = {
        k: v for k, v in node["Resources"].items() if "memory" not in k and not k.startswith(("node:", "accelerator"))
    }
    return f"{node['NodeManagerAddress']} ({', '.join(f'{k} {v:g}' for k, v in own.items()) or 'nothing'})"


def survey(asked: Sequence[Device]) -> tuple[dict[str, Any], dict[str, str]]:
    """Asks TensorFlow on every node that can take part: what is there, as `harness.store.open_run.here`; the
    circumstances.

    Raises:
      LookupError: no node has all the devices.
      ValueError: as `agreed`.
      RuntimeError: TensorFlow does not start on one.
    """
    ray = engine()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    need = needs(asked)
    nodes = able(need)
    if not nodes:
        raise LookupError(lacking(need))
    task = ray.remote(batch.look)
    looks = {}
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        looks[node["NodeID"]] = task.options(num_cpus=1, max_retries=0, scheduling_strategy=there).remote()
    found: dict[str, dict[str, Any]] = {}
    for node in nodes:
        where = node["NodeManagerAddress"]
        name = where if where not in found else f"{where} ({node['NodeID'][:8]})"
        try:
            found[name] = ray.get(looks[node["NodeID"]])
        except ray.exceptions.RayError as error:
            raise RuntimeError(f"node {name}: {reason(error)}") from error
        found[name]["address"] = where
    return agreed(found, asked)


def agreed(found: Mapping[str, Mapping[str, Any]], asked: Sequence[Device]) -> tuple[dict[str, Any], dict[str, str]]:
    """What all nodes say, of what each says by its name; and the circumstances, which have to be the same.

    Raises:
      ValueError: nodes differ, or one that others can reach has no token.
    """
    for name, there in found.items():
        if not loopback(there["address"]) and not there["guarded"]:
            raise ValueError(
                f"node {name} can be reached without a token: expected RAY_AUTH_MODE=token where it starts"
            )
    first = next(iter(found.values()))
    devices = [str(d.plain) for d in asked if not d.recorded] or list(first["devices"])
    told = {name: batch.circumstances(one, devices) for name, one in found.items()}
    if not asked:
        told = {name: {"devices": " ".join(one["devices"]), **told[name]} for name, one in found.items()}
    others = batch.differing(told)
    if others:
        raise ValueError(f"the nodes differ: {'; '.join(others)}. Run each kind on its own, and merge the runs")
    hosts = ", ".join(dict.fromkeys(one["host"] for one in found.values()))
    kinds = dict.fromkeys(f"{one['host']}: {described(one['machine'])}" for one in found.values())
    machine = {**joined(one["machine"] for one in found.values()), "nodes": f"{len(found)} ({'; '.join(kinds)})"}
    return {**first, "host": hosts, "machine": machine}, batch.circumstances(first, devices)
