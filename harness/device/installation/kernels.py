"""Kernels: those that TensorFlow has registered for a device. Imported in device servers only."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels as registry

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.spec.modes import xla_compiles
from tf_opdiff.harness.spec.plan import Device

#: The messages about an op without a kernel: of eager mode (it names no op where it makes a constant), of the runtime,
#: of the placer, of the executor, and of the placer about ops that must be on one device.
_NO_KERNEL = re.compile(
    r"Could not satisfy device specification .*?Supported device types \[[A-Z_, ]*\](?:.*?\[Op:(\w+)\])?"
    r"|All kernels registered for op (\w+)"
    r"|no supported kernel for \w+ devices .*?\nOp: (\w+)\n"
    r"|No OpKernel was registered to support Op '(\w+)'"
    r"|colocated with a group of nodes that required incompatible device '.*?supported_device_types_=\[CPU\]"
    r".*?\n(\w+): CPU *\n",
    re.DOTALL,
)

#: The attributes that constrain the dtypes of a kernel's data.
_TYPES = ("T", "Tin", "Tout", "Tparams", "dtype")


def lacking_dtype(name: str) -> str:
    """A message if this TensorFlow has no such dtype, as an older one may; otherwise empty."""
    try:
        tf.as_dtype(np.dtype(name))
    except TypeError:
        return f"TensorFlow {tf.__version__} has no dtype {name}"
    return ""


def lacking_kernel(ops: Sequence[str], device: Device, mode: str, dtype: str) -> str:
    """A message about the first op that has no kernel for the device (under XLA, for its compiler) and dtype."""
    kind = f"XLA_{device.type.upper()}_JIT" if xla_compiles(mode) else device.type.upper()
    if xla_compiles(mode) and kind not in _kernel_devices():
        return f"XLA does not compile for {device.type.upper()}: no {kind} kernel is registered"
    everywhere = {kind} if xla_compiles(mode) else {kind, "DEFAULT"}
    wanted = tf.as_dtype(np.dtype(dtype)).as_datatype_enum  # a NumPy dtype, for TensorFlow knows no "bytes"
    for op in filter(None, ops):
        for kernel in registry.get_registered_kernels_for_op(op).kernel:
            types = [list(c.allowed_values.list.type) for c in kernel.constraint if c.name in _TYPES]
            if kernel.device_type in everywhere and all(wanted in t for t in types):
                break
        else:
            return f"no {kind} kernel of {op} for {dtype} is registered"
    return ""


@lru_cache(maxsize=1)
def _kernel_devices() -> set[str]:
    """The device types for which at least one kernel is registered."""
    _start_xla()
    return {kernel.device_type for kernel in registry.get_all_registered_kernels().kernel}


def _start_xla() -> None:
    """Compiles a trivial function: XLA registers its kernels at its first use."""
    with contextlib.suppress(Exception):  # a build may lack XLA
        tf.function(lambda x: x, jit_compile=True)(tf.constant(1.0))


def registered() -> dict[str, dict[str, list[dict[str, list[str]]]]]:
    """All kernels: for each op and device type, such as `GPU` and `XLA_CPU_JIT`, the dtypes that they take.

    The dtypes stand by attribute. A device type has more than one such dict if its kernels do not take each dtype of
    one attribute with each of another. Kernels for a device that this machine lacks are among them, and those of XLA's
    compilers. An empty dict is a kernel that is registered without dtypes. Kernels with a label are left out:
    TensorFlow takes them only on request.
    """
    _start_xla()
    of_device: dict[tuple[str, str], list[Any]] = {}
    for kernel in registry.get_all_registered_kernels().kernel:
        if not kernel.label:
            of_device.setdefault((kernel.op, kernel.device_type), []).append(kernel)
    ops: dict[str, dict[str, list[dict[str, list[str]]]]] = {}
    for (op, kind), members in sorted(of_device.items(), key=lambda item: item[0]):
        ops.setdefault(op, {})[kind] = _dtypes(members)
    return ops


def _dtypes(kernels: Iterable[Any]) -> list[dict[str, list[str]]]:
    """The dtypes by attribute that some kernels take, in few dicts."""
    taken = [{c.name: frozenset(c.allowed_values.list.type) for c in kernel.constraint} for kernel in kernels]
    names = sorted({name for row in taken for name, types in row.items() if types})
    rows = list(dict.fromkeys(tuple(row.get(name) for name in names) for row in taken))  # None: any dtype
    for i in range(len(names)):  # kernels that differ in this attribute only become one row
        joined: dict[tuple[Any, ...], frozenset[int] | None] = {}
        for row in rows:
            others, own = (row[i] is None, *row[:i], *row[i + 1 :]), row[i]
            joined[others] = None if own is None else own | (joined.get(others) or frozenset())
        rows = [(*others[1 : i + 1], own, *others[i + 1 :]) for others, own in joined.items()]
    return [
        {name: sorted(map(_dtype_name, types)) for name, types in zip(names, row, strict=True) if types} for row in rows
    ]


def _dtype_name(number: int) -> str:
    return tf.as_dtype(number).name


def ops_without_kernel(results: Mapping[str, Result]) -> list[str]:
    """The ops that have no kernel according to errors: an op of the gradient may lack one although the op has one.

    An op that the error does not name is an empty text.
    """
    messages = {result.message: None for result in results.values() if result.status == "error"}
    found = (match for message in messages for match in _NO_KERNEL.finditer(message))
    return [next(filter(None, match.groups()), "") for match in found]
