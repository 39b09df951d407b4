"""Trait: a property of a processor that decides results, such as an inexact instruction for reciprocals.

Known failures select processors by traits, never by a vendor's name. A run measures the traits of its CPU. TensorFlow
states the compute capability of a GPU, which is its only trait.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The properties of a processor, in a sentence or two.
ABOUT = "A run measures these properties of its CPU. Of a GPU, TensorFlow states the compute capability."
#: The fact of a device in run.json: the names of its traits, with spaces between them.
FACT = "traits"
#: The fact of a GPU in run.json: its compute capability, such as `(9, 0)`.
CAPABILITY = "compute_capability"
#: The compute capabilities of GPUs that entries may name: those since Pascal.
_CAPABILITIES = ("6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0")
#: Trait of a CPU → what it says. `harness.device.installation.measured_traits` measures each.
CPU_TRAITS: Mapping[str, str] = {
    "arm64": "the processor is a 64-bit Arm",
    "avx2": "the processor has AVX2",
    "avx512": "the processor has the foundation of AVX-512",
    "avx512fp16": "the processor has AVX512-FP16, and XLA's flags do not keep XLA from using it",
    "flushes-float16": "a cast of a subnormal float16 to float32 gives 0, as in QEMU 7.2 but in no x86-64 itself",
    "flushes-subnormals": "an eager op returns 0 for a subnormal float32",
    "fma": "the processor has fused multiply-add",
    "inexact-reciprocal": "tf.math.reciprocal(1.0) is not 1 in vector lanes: it comes from an approximation",
    "inexact-rsqrt": "tf.math.rsqrt(1.0) is not 1 in vector lanes: it comes from an approximation",
    "inexact-third": "tf.math.reciprocal(3.0) is not 0.33333334 in vector lanes: it comes from a cruder approximation",
    "onednn-float16": "TensorFlow takes oneDNN's kernels for float16, as on processors with AVX512-FP16",
    "x86-64": "the processor is a 64-bit x86",
}
#: The traits that a processor has only where oneDNN is on.
OF_ONEDNN = frozenset({"onednn-float16"})
#: Trait → what it says.
TRAITS: Mapping[str, str] = {
    **CPU_TRAITS,
    **{f"compute-capability-{v}": f"the device is an NVIDIA GPU of compute capability {v}" for v in _CAPABILITIES},
}


def traits_in(facts: Mapping[str, Any]) -> frozenset[str]:
    """The traits among the facts of a device in run.json; empty for a run of an earlier version.

    A GPU has one trait, its compute capability; `TRAITS` need not have it. Other accelerators have none.
    """
    if version := re.findall(r"\d+", str(facts.get(CAPABILITY, ""))):
        return frozenset([f"compute-capability-{'.'.join(version)}"])
    return frozenset(str(facts.get(FACT, "")).split())


def without_onednn(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a device on which oneDNN is off, from those of the same device with oneDNN on."""
    names = [name for name in str(facts.get(FACT, "")).split() if name not in OF_ONEDNN]
    return {**facts, **({FACT: " ".join(names)} if FACT in facts else {})}
