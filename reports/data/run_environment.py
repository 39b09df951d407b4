"""Circumstances: in what two runs differ besides what they found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.spec.plan import type_of
from tf_opdiff.harness.store.rundir import RunInfo

_COMMON = (
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


def cuda(run: RunInfo) -> str:
    """The CUDA of a run in words: `CUDA 12.5.1`, or `built for CUDA 12.5.1, no GPU here`; empty without CUDA."""
    versions = _versions(run)
    built = versions.get("built for cuda", "")
    if versions["cuda"]:
        return f"CUDA {versions['cuda']}"
    return f"built for CUDA {built}, no GPU here" if built else ""


def _versions(run: RunInfo) -> dict[str, str]:
    """A run's versions by name.

    `cuda` and `cudnn` are empty where the run knows no GPU. Earlier runs have there what TensorFlow was built for.
    """
    versions = {"tensorflow": run.tf, **run.versions, "cuda": run.cuda}
    gpu = any(type_of(str(about.get("device", name))) == "gpu" for name, about in run.devices.items())
    if run.devices and not gpu:
        for name in ("cuda", "cudnn"):
            versions.setdefault(f"built for {name}", versions.get(name, ""))
            versions[name] = ""
    return {**versions, "tensorflow": run.tf}


def facts(run: RunInfo) -> dict[str, str]:
    """All that is known of where and how a run ran, by name."""
    devices = {f"device {name}": _told(about) for name, about in run.devices.items()}
    found = _versions(run) | {"host": run.host} | run.machine | devices
    found |= {f"flag {name}": value for name, value in run.flags.items()}
    found |= {"modes": " ".join(map(str, run.modes)), "tier": run.tier, "arguments": " ".join(map(str, run.arguments))}
    found |= {"items left out": f"{len(run.deselected):,}", "planned cells": f"{run.planned:,}"}
    return {str(name): str(value) for name, value in found.items()}


def _told(about: Mapping[str, object]) -> str:
    more = [f"{key} {value}" for key, value in about.items() if key != "asked"]
    return ", ".join(["asked for" if about.get("asked") else "not asked for", *more])


def differences(before: RunInfo, after: RunInfo) -> pd.DataFrame:
    """What differs: `what`, `before`, `after`; a text is empty where a run says nothing of it."""
    old, new = facts(before), facts(after)
    rows = [(name, old.get(name, ""), new.get(name, "")) for name in dict.fromkeys([*new, *old])]
    return pd.DataFrame([row for row in rows if row[1] != row[2]], columns=["what", "before", "after"], dtype="str")


def alike(before: RunInfo, after: RunInfo) -> dict[str, str]:
    """Of what readers ask for first, what is the same in both."""
    old, new = facts(before), facts(after)
    return {name: old[name] for name in _COMMON if old.get(name) and old.get(name) == new.get(name)}
