"""Kernels: which ones are registered for a device. TensorFlow is imported here: in device servers only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels as registry

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.spec.plan import Device

#: How TensorFlow names an op for which it finds no kernel: one op at a time, the runtime, the placer, the executor.
_NO_KERNEL = re.compile(
    r"Could not satisfy device specification .*?\[Op:(\w+)\]"
    r"|All kernels registered for op (\w+)"
    r"|no supported kernel for \w+ devices .*?\nOp: (\w+)\n"
    r"|No OpKernel was registered to support Op '(\w+)'",
    re.DOTALL,
)

#: The attributes by which kernels say which dtypes of data they take.
_TYPES = ("T", "Tin", "Tout", "Tparams", "dtype")


def lacking_dtype(name: str) -> str:
    """Says that this TensorFlow has no such dtype, as an older one may; nothing where it has."""
    try:
        tf.as_dtype(np.dtype(name))
    except TypeError:
        return f"TensorFlow {tf.__version__} has no dtype {name}"
    return ""


def lacking_kernel(ops: Sequence[str], device: Device, mode: str, dtype: str) -> str:
    """The first of the ops that has no kernel registered for the device (under XLA, its compiler) and dtype."""
    kind = f"XLA_{device.type.upper()}_JIT" if mode == "xla" else device.type.upper()
    if mode == "xla" and kind not in _kernel_devices():
        return f"XLA does not compile for {device.type.upper()}: no {kind} kernel is registered"
    everywhere = {kind} if mode == "xla" else {kind, "DEFAULT"}
    wanted = tf.as_dtype(np.dtype(dtype)).as_datatype_enum  # a NumPy dtype, for TensorFlow knows no "bytes"
    for op in ops:
        for kernel in registry.get_registered_kernels_for_op(op).kernel:
            types = [list(c.allowed_values.list.type) for c in kernel.constraint if c.name in _TYPES]
            if kernel.device_type in everywhere and all(wanted in t for t in types):
                break
        else:
            return f"no {kind} kernel of {op} for {dtype} is registered"
    return ""


@lru_cache(maxsize=1)
def _kernel_devices() -> set[str]:
    """The types of devices that any kernel is registered for."""
    return {kernel.device_type for kernel in registry.get_all_registered_kernels().kernel}


def named(quantities: Mapping[str, Result]) -> list[str]:
    """The ops that errors say have no kernel: what a gradient is made of may lack one that the op itself has."""
    messages = {result.message: None for result in quantities.values() if result.status == "error"}
    return [next(filter(None, found.groups())) for message in messages for found in _NO_KERNEL.finditer(message)]
