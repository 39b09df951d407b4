"""Subnormals: the sides of contracts on which a processor takes them for zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_opdiff.harness.spec.modes import MODES, xla_compiles
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.reference.subnormal import DENORMALS, GPU_LINK, GPU_WHY, LINK, WHY, flushed, flushed_on_gpu


def flushing(reference: Callable[..., Any], why: str = WHY) -> Side:
    """The side that promises the reference's result for inputs whose subnormals are zeros."""
    return Side(reference=lambda *xs: reference(*map(flushed, xs)), why=why, link=LINK, unless=DENORMALS)


def flushing_on_gpu(reference: Callable[..., Any]) -> dict[str, Side]:
    """The sides of GPUs: TensorFlow's kernels flush subnormals of float32 and bfloat16 there, and XLA keeps them."""

    def flushed_reference(*xs: Any) -> Any:
        return flushed_on_gpu(reference(*map(flushed_on_gpu, xs)))

    return of_gpu_kernels(Side(reference=flushed_reference, why=GPU_WHY, link=GPU_LINK))


def of_gpu_kernels(side: Side) -> dict[str, Side]:
    """A side of TensorFlow's own kernels for GPUs, and not of what XLA compiles for them."""
    return {f"gpu/{mode}": side for mode in MODES if not xla_compiles(mode)}
