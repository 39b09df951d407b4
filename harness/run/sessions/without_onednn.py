"""Without oneDNN: a run on a CPU where oneDNN is on has a second device, on which oneDNN is off.

Only specs of ops that oneDNN has a kernel for run there: for other ops it is the same device under another name. XLA
compiles its own kernels, so it does not run there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.modes import xla_compiles
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.settings.variant import ONEDNN, facts

DEVICE = Device("cpu", variants=("noonednn",))
#: The fact of run.json by which a run knows the second device again.
ONLY = {"only": "ops that oneDNN has a kernel for"}


def second_device(devices: Mapping[str, Mapping[str, Any]], items: Iterable[Item]) -> dict[str, dict[str, Any]]:
    """The second device with its facts, to add to those of a run; empty if nothing would run there.

    Args:
      devices: the devices of the run with their facts, as in run.json.
      items: the items of the run.
    """
    about = devices.get("cpu", {})
    if about.get(ONEDNN) != "on" or not about.get("asked"):
        return {}
    onednn_plans = plans(MODES)
    if not any(item.spec.runs_under(plan) for item in items for plan in onednn_plans):
        return {}
    return {str(DEVICE): {**facts(about, DEVICE.variants), **ONLY}}


def plans(modes: Iterable[str]) -> list[Plan]:
    """The plans of the second device in these modes."""
    ops = frozenset(name for name, op in RawOps.load().ops.items() if op.onednn)
    return [Plan(DEVICE, mode, ops) for mode in modes if not xla_compiles(mode)]
