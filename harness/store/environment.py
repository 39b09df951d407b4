"""Circumstances: what has to be the same wherever the parts of one run ran, and in what they differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from tf_opdiff.harness.spec.plan import type_of
from tf_opdiff.harness.spec.variant import ONEDNN, ONEDNN_FLAG

#: What TensorFlow says of a device that tells one model from another, and whether it has oneDNN's kernels.
MODEL = ("device_name", "compute_capability", ONEDNN)
#: Environment variables that change numerics. Runs from before one was listed here say nothing of it.
FLAGS = (
    *(ONEDNN_FLAG, "ONEDNN_MAX_CPU_ISA", "TF_XLA_FLAGS", "XLA_FLAGS", "CUDA_VISIBLE_DEVICES"),
    "NVIDIA_TF32_OVERRIDE",
)
_K = TypeVar("_K", bound=Hashable)


def of_devices(devices: Mapping[str, Mapping[str, str]], cuda: Mapping[str, str]) -> dict[str, str]:
    """What has to be the same of devices: their models and, for accelerators, the versions of CUDA's libraries.

    `devices` maps each name to the facts that TensorFlow gives about the device. Unknown facts are left out.
    """
    accelerated = any(type_of(device) != "cpu" for device in devices)
    models = {f"{d}'s {name}": details[name] for d, details in devices.items() for name in MODEL if name in details}
    return {**(cuda if accelerated else {}), **models}


def of_flags(flags: Mapping[str, str], *, onednn_known: bool) -> dict[str, str]:
    """What has to be the same of the flags; one that is not set is empty.

    Where it is known whether oneDNN is on, the flag that turns it on says nothing more.
    """
    every = {**dict.fromkeys(FLAGS, ""), **flags}
    return {name: value for name, value in every.items() if not (onednn_known and name == ONEDNN_FLAG)}


def joined(many: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The facts of several sources as those of one: each different text once, in order, with semicolons between."""
    texts: dict[str, dict[str, None]] = {}
    for facts in many:
        for name, text in facts.items():
            texts.setdefault(name, {}).update({text: None} if text else {})
    return {name: "; ".join(distinct) for name, distinct in texts.items()}


def apart(told: Mapping[_K, Mapping[str, str]]) -> dict[str, dict[_K, str]]:
    """Facts that differ between sources: name → what each source that has the fact says.

    A source without a fact does not know it (a run from before it was written down), which is no difference; that
    something is not set or not there is said by an empty text.
    """
    names = dict.fromkeys(name for facts in told.values() for name in facts)
    said = {name: {who: facts[name] for who, facts in told.items() if name in facts} for name in names}
    return {name: values for name, values in said.items() if len(set(values.values())) > 1}
