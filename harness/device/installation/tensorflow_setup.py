"""Setup: TensorFlow made ready for one device, and the list of the devices that it sees.

Imported in device servers only.
"""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from tf_opdiff.harness.device.installation.kernels import lacking_kernel
from tf_opdiff.harness.device.installation.measured_traits import measured_traits
from tf_opdiff.harness.spec.plan import Device, type_of
from tf_opdiff.harness.spec.settings import trait, variant
from tf_opdiff.harness.system.processor import processor


def configure(device: Device) -> str:
    """Configures TensorFlow for one device; returns why the device is not available, or an empty text."""
    tf.config.set_soft_device_placement(False)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        variant.apply(device.variants, tf)
    except OSError as why:
        return str(why)
    kind = device.type.upper()
    present = tf.config.list_physical_devices(kind)
    others = {d.device_type for d in tf.config.list_physical_devices()} - {"CPU", kind}
    for other in others:  # otherwise TensorFlow starts them and takes memory there
        tf.config.set_visible_devices([], other)
    # TensorFlow starts all devices of a plugin if none is visible, unless their number is given.
    context.context()._config = tf.compat.v1.ConfigProto(device_count=dict.fromkeys(others, 0))
    if kind == "CPU" and device.index:
        # A second CPU is TensorFlow's own stand-in for a second device: placement is as strict as between CPU and GPU.
        logical = [tf.config.LogicalDeviceConfiguration()] * (device.index + 1)
        tf.config.set_logical_device_configuration(present[0], logical)
    elif device.index >= len(present):
        return f"TensorFlow lists no {device.tf_name}"
    else:
        # Only the plan's device: TensorFlow takes memory on every GPU it sees. It then counts from 0 again.
        tf.config.set_visible_devices(present[device.index], kind)
        if kind != "CPU":
            tf.config.experimental.set_memory_growth(present[device.index], True)
    return ""


def local(device: Device) -> Device:
    """The device under its name inside its server, which sees no other accelerator."""
    return device if device.type == "cpu" else replace(device, index=0)


def describe() -> dict[str, Any]:
    """The devices that TensorFlow lists, the machine as this process sees it, and versions; for the run's `run.json`.

    The traits of the processor are measured by eager ops on the CPU, so this process can own no other device later.
    `cuda` and `cudnn` are empty if TensorFlow lists no GPU; the versions that TensorFlow was built for are among
    `versions`.
    """
    devices = {}
    for physical in tf.config.list_physical_devices():
        kind, _, index = physical.name.rpartition("physical_device:")[2].partition(":")
        name = str(Device(kind.lower(), int(index)))
        if not kind.startswith("XLA_"):
            devices[name] = {k: str(v) for k, v in tf.config.experimental.get_device_details(physical).items()}
    configure(Device("cpu"))
    devices["cpu"] |= {variant.ONEDNN: variant.onednn(), trait.FACT: " ".join(measured_traits())}
    build = tf.sysconfig.get_build_info()
    built_for = {k: str(build.get(f"{k}_version", "")) for k in ("cuda", "cudnn") if build.get("is_cuda_build")}
    versions = {"tensorflow": tf.__version__, "numpy": np.__version__, "python": platform.python_version()}
    gpu = any(type_of(name) == "gpu" for name in devices)
    return {
        "devices": devices,
        "cuda": built_for.get("cuda", "") if gpu else "",
        "cudnn": built_for.get("cudnn", "") if gpu else "",
        "machine": {"system": platform.platform(), **processor(), "cores": str(os.cpu_count())},
        "versions": {**versions, **{f"built for {k}": v for k, v in built_for.items()}},
    }


def works(device: Device) -> bool:
    """Whether the device still adds one and one: after a fault, a CUDA context may answer every op with an error."""
    try:
        with tf.device(device.tf_name):
            one = tf.constant(1.0)
            if lacking_kernel(("AddV2",), device, "eager", "float32"):
                return float(tf.identity(one)) == 1.0  # needs no kernel of the device's own
            return float(one + one) == 2.0
    except Exception:  # noqa: BLE001  any exception means that the device does not work
        return False
