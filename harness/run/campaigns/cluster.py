"""Cluster: the machines that run batches, as Ray reaches them, and the resources that a batch needs there."""

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

from tf_opdiff.harness.device.processes.locks import per_device
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.campaigns import batch
from tf_opdiff.harness.run.campaigns.node import LOOPBACK, QUIET, guard, loopback, resources
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.run_directories.environment import joined
from tf_opdiff.harness.store.run_directories.open_run import here
from tf_opdiff.harness.system.interrupt import uninterrupted
from tf_opdiff.harness.system.processor import described

LOCAL = "local"
OLDEST = "2.52"  # the first version with token authentication
#: Bytes of shared memory on a machine, for messages between processes.
STORE = 200 << 20
#: Parts of the repository that nodes do not receive, besides those that git ignores.
EXCLUDES = [".git", ".venv", "runs", ".cache", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"]
_MISSING = f"a campaign needs Ray Core: pip install 'ray>={OLDEST}'"


def engine() -> ModuleType:
    """The module `ray`.

    Raises:
      RuntimeError: Ray is not installed, or too old.
    """
    for name, value in {**QUIET, "RAY_NUM_REDIS_GET_RETRIES": "4"}.items():  # attempts to reach a head
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as why:
        raise RuntimeError(f"{_MISSING} ({why})") from why
    if Version(ray.__version__) < Version(OLDEST):
        raise RuntimeError(f"{_MISSING}; version {ray.__version__} has no tokens")
    return ray


def connect(address: str, devices: Sequence[Device]) -> None:
    """Connects to the cluster at `HOST:PORT`, or starts one of this machine alone if the address is `local`.

    Raises:
      ValueError: the address has another form, or it is beyond loopback and there is no token.
      RuntimeError: Ray is not installed, or there is no cluster at the address.
    """
    settings: dict[str, Any] = {"address": address}
    if address == LOCAL:
        accelerators = not devices or any(d.type != "cpu" and not d.recorded for d in devices)
        counts = resources(here()["devices"]) if accelerators else {}
        os.environ.update({**LOOPBACK, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)})
        with uninterrupted():
            folder = tempfile.mkdtemp(prefix="opdiff-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        settings |= {"_temp_dir": folder, "include_dashboard": False, "object_store_memory": STORE}
        settings |= {"num_cpus": len(os.sched_getaffinity(0)), "num_gpus": counts.pop("GPU", 0), "resources": counts}
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
    environment = {"working_dir": str(ROOT), "excludes": EXCLUDES, "env_vars": QUIET}
    try:
        ray.init(**settings, runtime_env=environment, log_to_driver=False, logging_level="error")
    except (ray.exceptions.RayError, RuntimeError, OSError) as error:
        refused = "InvalidAuthToken" in f"{error} {error.__cause__}"
        why = "the token here is not the cluster's, or there is none" if refused else reason(error)
        raise RuntimeError(f"no campaign at {address}: {why}") from error


def reason(error: BaseException) -> str:
    """The first cause of an error, in one line."""
    while (cause := getattr(error, "cause", None) or error.__cause__) is not None:
        error = cause
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = "".join(c if c.isprintable() else "?" for c in lines[0].partition(". ")[0][:300]) if lines else ""
    return f"{type(error).__name__}: {text}"


def share(count: int) -> float:
    """The number of accelerators of a type that a batch needs, if it uses the first `count` of them.

    As many batches as servers may share one accelerator; see `harness.device.processes.locks`.
    """
    return count if count > 1 else 1 / per_device()


def needs(devices: Iterable[Device]) -> dict[str, Any]:
    """The resources of a node that a batch on these devices needs, all of them side by side; in Ray's words."""
    most: dict[str, int] = {}
    for device in devices:
        if not device.recorded and device.type != "cpu":
            most[device.type.upper()] = max(most.get(device.type.upper(), 0), device.index + 1)
    need: dict[str, Any] = {"num_cpus": 1, "resources": {name: share(n) for name, n in most.items() if name != "GPU"}}
    return need | ({"num_gpus": share(most["GPU"])} if "GPU" in most else {})


def able(need: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The nodes that are alive and have these resources, free or not."""
    wanted = {"CPU": need["num_cpus"], "GPU": need.get("num_gpus", 0), **need["resources"]}
    nodes = [node for node in engine().nodes() if node["Alive"]]
    return [node for node in nodes if all(node["Resources"].get(name, 0) >= n for name, n in wanted.items())]


def lacking(need: Mapping[str, Any]) -> str:
    """One line: no node has these resources, and those that the nodes have."""
    wanted = ["CPU", *(["GPU"] if "num_gpus" in need else []), *need["resources"]]
    nodes = [_resources_of(node) for node in engine().nodes() if node["Alive"]]
    return f"no node has {' and '.join(wanted)} together; there is {', '.join(nodes) or 'none'}"


def _resources_of(node: Mapping[str, Any]) -> str:
    own = {
        k: v for k, v in node["Resources"].items() if "memory" not in k and not k.startswith(("node:", "accelerator"))
    }
    return f"{node['NodeManagerAddress']} ({', '.join(f'{k} {v:g}' for k, v in own.items()) or 'nothing'})"


def survey(devices: Sequence[Device]) -> tuple[dict[str, Any], dict[str, str]]:
    """Collects the facts of every node that has the devices; returns them as one machine, with its circumstances.

    The machine has the form of `harness.store.run_directories.open_run.here`.

    Raises:
      LookupError: no node has all the devices.
      ValueError: as `agreed`.
      RuntimeError: TensorFlow does not start on one.
    """
    ray = engine()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    need = needs(devices)
    nodes = able(need)
    if not nodes:
        raise LookupError(lacking(need))
    task = ray.remote(batch.node_facts)
    tasks = {}
    for node in nodes:
        only_there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        tasks[node["NodeID"]] = task.options(num_cpus=1, max_retries=0, scheduling_strategy=only_there).remote()
    facts: dict[str, dict[str, Any]] = {}
    for node in nodes:
        address = node["NodeManagerAddress"]
        name = address if address not in facts else f"{address} ({node['NodeID'][:8]})"
        try:
            facts[name] = ray.get(tasks[node["NodeID"]])
        except ray.exceptions.RayError as error:
            raise RuntimeError(f"node {name}: {reason(error)}") from error
        facts[name]["address"] = address
    return agreed(facts, devices)


def agreed(facts: Mapping[str, Mapping[str, Any]], devices: Sequence[Device]) -> tuple[dict[str, Any], dict[str, str]]:
    """The nodes as one machine, from the facts of each by name; and their circumstances, which must be the same.

    Raises:
      ValueError: nodes differ, or one that others can reach has no token.
    """
    for name, node in facts.items():
        if not loopback(node["address"]) and not node["guarded"]:
            raise ValueError(
                f"node {name} can be reached without a token: expected RAY_AUTH_MODE=token where it starts"
            )
    first = next(iter(facts.values()))
    names = [str(d.plain) for d in devices if not d.recorded] or list(first["devices"])
    by_node = {name: batch.circumstances(node, names) for name, node in facts.items()}
    if not devices:
        by_node = {name: {"devices": " ".join(node["devices"]), **by_node[name]} for name, node in facts.items()}
    differences = batch.differing(by_node)
    if differences:
        raise ValueError(f"the nodes differ: {'; '.join(differences)}. Run each kind on its own, and merge the runs")
    hosts = ", ".join(dict.fromkeys(node["host"] for node in facts.values()))
    kinds = dict.fromkeys(f"{node['host']}: {described(node['machine'])}" for node in facts.values())
    machine = {**joined(node["machine"] for node in facts.values()), "nodes": f"{len(facts)} ({'; '.join(kinds)})"}
    return {**first, "host": hosts, "machine": machine}, batch.circumstances(first, names)
