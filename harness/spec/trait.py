"""Trait: a measured property of a processor that decides results, such as an inexact instruction for reciprocals.

Known failures select processors by traits, never by a vendor's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

#: The fact of a device in run.json: the names of its traits, with spaces between them.
FACT = "traits"
#: Trait → what it says. `harness.device.measured_traits` measures each.
TRAITS: Mapping[str, str] = {
    "arm64": "the processor is a 64-bit Arm",
    "avx2": "the processor has AVX2",
    "avx512": "the processor has the foundation of AVX-512",
    "avx512fp16": "the processor has AVX512-FP16, and XLA's flags do not keep XLA from using it",
    "flushes-float16": "a cast of a subnormal float16 to float32 gives 0, as in QEMU 7.2 but in no x86-64 itself",
    "flushes-subnormals": "an eager op returns 0 for a subnormal float32",
    "fma": "the processor has fused multiply-add",
    "inexact-reciprocal": "tf.math.reciprocal(1.0) is not 1 in vector lanes: it comes from an approximation",
    "inexact-rsqrt": "tf.math.rsqrt(1.0) is not 1 in vector lanes: it comes from an approximation",
    "x86-64": "the processor is a 64-bit x86",
}
#: The traits that name architectures. Entries of known failures without `trait` were recorded on the first.
ARCHITECTURES = ("x86-64", "arm64")


def of_another_architecture(traits: AbstractSet[str] | None) -> bool:
    """Whether a device with these traits has another architecture than that on which entries were recorded."""
    return traits is not None and not traits.isdisjoint(ARCHITECTURES[1:])


def traits_in(facts: Mapping[str, Any]) -> frozenset[str]:
    """The traits among the facts of a device in run.json; empty for a run of an earlier version."""
    return frozenset(str(facts.get(FACT, "")).split())
