"""Run environment: where and how a run ran, by its run.json, and how two runs differ in that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.spec.plan import type_of
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

#: The facts that readers look for first.
_FIRST = (
    *("tensorflow", "suite commit", "cuda", "cudnn", "python", "numpy", "host", "processor", "instructions"),
    "tier",
)


def info(run: Path) -> RunInfo:
    """A run's `run.json`.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: the file is damaged, or a link.
    """
    try:
        return RunInfo.load(run)
    except FileNotFoundError as why:
        raise FileNotFoundError(f"{run} is not the directory of a run: it has no run.json") from why


def requested(about: Mapping[str, object]) -> bool:
    """Whether the run was started with this device; `about` is the device's entry of run.json."""
    return bool(about.get("asked"))


def device_facts(about: Mapping[str, object]) -> str:
    """The facts of a device in words: `device_name NVIDIA H100, driver 550`."""
    return ", ".join(f"{key} {value}" for key, value in about.items() if key != "asked")


def cuda(run: RunInfo) -> str:
    """The CUDA of a run in words: `CUDA 12.5.1`, or `built for CUDA 12.5.1, no GPU here`; empty without CUDA."""
    versions = _versions(run)
    built = versions.get("built for cuda", "")
    if versions["cuda"]:
        return f"CUDA {versions['cuda']}"
    return f"built for CUDA {built}, no GPU here" if built else ""


def _versions(run: RunInfo) -> dict[str, str]:
    """A run's versions by name.

    `cuda` and `cudnn` are empty where the run lists no GPU. Earlier runs recorded there the version that TensorFlow was
    built for.
    """
    versions = {"tensorflow": run.tf, **run.versions, "cuda": run.cuda}
    gpu = any(type_of(str(about.get("device", name))) == "gpu" for name, about in run.devices.items())
    if run.devices and not gpu:
        for name in ("cuda", "cudnn"):
            versions.setdefault(f"built for {name}", versions.get(name, ""))
            versions[name] = ""
    return {**versions, "tensorflow": run.tf}


def facts(run: RunInfo) -> dict[str, str]:
    """All facts that run.json holds about where and how a run ran, by name."""
    devices = {f"device {name}": _device_in_words(about) for name, about in run.devices.items()}
    by_name = _versions(run) | {"host": run.host} | run.machine | devices
    by_name |= {f"flag {name}": value for name, value in run.flags.items()}
    by_name |= {"modes": " ".join(map(str, run.modes)), "tier": run.tier}
    by_name |= {"arguments": " ".join(map(str, run.arguments))}
    by_name |= {"items left out": f"{len(run.deselected):,}", "planned cells": f"{run.planned:,}"}
    return {str(name): str(value) for name, value in by_name.items()}


def _device_in_words(about: Mapping[str, object]) -> str:
    state = "requested" if requested(about) else "not requested"
    return ", ".join(filter(None, [state, device_facts(about)]))


def differences(before: RunInfo, after: RunInfo) -> pd.DataFrame:
    """The facts in which two runs differ: `what`, `before`, `after`; a text is empty where a run lacks the fact."""
    old, new = facts(before), facts(after)
    rows = [(name, old.get(name, ""), new.get(name, "")) for name in dict.fromkeys([*new, *old])]
    return pd.DataFrame([row for row in rows if row[1] != row[2]], columns=["what", "before", "after"], dtype="str")


def alike(before: RunInfo, after: RunInfo) -> dict[str, str]:
    """The facts that readers look for first and in which two runs agree, by name."""
    old, new = facts(before), facts(after)
    return {name: old[name] for name in _FIRST if old.get(name) and old.get(name) == new.get(name)}


def not_run(run: RunInfo) -> pd.DataFrame:
    """The planned cells without a result, and the reasons: case, device, mode, why."""
    return pd.DataFrame(run.not_run, columns=["case", "device", "mode", "why"]).fillna("").astype("str")
