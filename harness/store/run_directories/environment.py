"""Environment: facts of devices and flags that must agree between the parts of one run, and their differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from tf_opdiff.harness.spec.plan import type_of
from tf_opdiff.harness.spec.settings.variant import ONEDNN, ONEDNN_FLAG

#: The facts of a device that distinguish its model, and whether it uses oneDNN's kernels.
MODEL = ("device_name", "compute_capability", ONEDNN)
#: Environment variables that change numerics. Runs that are older than an entry of this list lack its variable.
FLAGS = (
    *(ONEDNN_FLAG, "ONEDNN_MAX_CPU_ISA", "TF_XLA_FLAGS", "XLA_FLAGS", "CUDA_VISIBLE_DEVICES"),
    "NVIDIA_TF32_OVERRIDE",
)
_K = TypeVar("_K", bound=Hashable)


def of_devices(devices: Mapping[str, Mapping[str, str]], cuda: Mapping[str, str]) -> dict[str, str]:
    """The facts of devices that must agree: their models and, for accelerators, the versions of CUDA's libraries.

    `devices` maps each name to the facts that TensorFlow gives about the device. Unknown facts are left out.
    """
    accelerated = any(type_of(device) != "cpu" for device in devices)
    models = {f"{d}'s {name}": details[name] for d, details in devices.items() for name in MODEL if name in details}
    return {**(cuda if accelerated else {}), **models}


def of_flags(flags: Mapping[str, str], *, onednn_known: bool) -> dict[str, str]:
    """The flags that must agree; the value of a flag that is not set is empty.

    If it is known whether oneDNN is on, oneDNN's flag is left out.
    """
    every = {**dict.fromkeys(FLAGS, ""), **flags}
    return {name: value for name, value in every.items() if not (onednn_known and name == ONEDNN_FLAG)}


def joined(many: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Merges the facts of several sources: the distinct texts of each fact, in order, joined by semicolons."""
    texts: dict[str, dict[str, None]] = {}
    for facts in many:
        for name, text in facts.items():
            texts.setdefault(name, {}).update({text: None} if text else {})
    return {name: "; ".join(distinct) for name, distinct in texts.items()}


def apart(sources: Mapping[_K, Mapping[str, str]]) -> dict[str, dict[_K, str]]:
    """The facts that differ between sources: name of the fact → source → its text.

    A source without a fact, such as an older run, does not count as a difference. An empty text does: it says that
    something is not set or not present.
    """
    names = dict.fromkeys(name for facts in sources.values() for name in facts)
    by_name = {name: {key: facts[name] for key, facts in sources.items() if name in facts} for name in names}
    return {name: texts for name, texts in by_name.items() if len(set(texts.values())) > 1}
