"""Measured traits: the properties of this processor that decide results. Imported in device servers only.

Instruction sets come from the CPUID that this process sees, so that an emulator answers for the processor that it
emulates; the rest is measured with TensorFlow's own eager ops.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping

import numpy as np
import tensorflow as tf
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

#: Instruction set → whether this processor has it.
_FEATURES: Mapping[str, bool] = _multiarray_umath.__cpu_features__
#: More elements than a vector has lanes: kernels compute the last elements of a tensor one by one, by another formula.
_LANES = 64
#: The architectures that `platform.machine` names, by trait.
_MACHINES = {"arm64": ("aarch64", "arm64"), "x86-64": ("x86_64", "AMD64")}
#: The instruction sets up to which `--xla_cpu_max_isa` leaves AVX512-FP16 on.
_WITH_FP16 = ("", "AVX512_FP16", "AMX", "AMX_FP16")


def _first(op: Callable[[tf.Tensor], tf.Tensor], x: float) -> float:
    return float(op(tf.constant(np.full(_LANES, x, np.float32)))[0])


def _onednn_takes_float16() -> bool:
    """TensorFlow's own kernel refuses images with channels first."""
    image = tf.ones((1, 1, 1, 1), tf.float16)
    try:
        tf.nn.conv2d(image, image, 1, "VALID", "NCHW")
    except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
        return False
    return True


def _xla_has_fp16() -> bool:
    flags = dict(part.partition("=")[::2] for part in os.environ.get("XLA_FLAGS", "").split())
    return _FEATURES.get("AVX512FP16", False) and flags.get("--xla_cpu_max_isa", "").upper() in _WITH_FP16


_MEASURES: Mapping[str, Callable[[], bool]] = {
    "arm64": lambda: platform.machine() in _MACHINES["arm64"],
    "avx2": lambda: _FEATURES.get("AVX2", False),
    "avx512": lambda: _FEATURES.get("AVX512F", False),
    "avx512fp16": _xla_has_fp16,
    "flushes-float16": lambda: not np.any(tf.cast(tf.constant(np.full(_LANES, 6e-8, np.float16)), tf.float32)),
    "flushes-subnormals": lambda: _first(lambda x: x * 1, 1e-40) == 0,
    "fma": lambda: _FEATURES.get("FMA3", False) or _FEATURES.get("NEON_VFPV4", False),
    "inexact-reciprocal": lambda: _first(tf.math.reciprocal, 1.0) != 1,
    "inexact-rsqrt": lambda: _first(tf.math.rsqrt, 1.0) != 1,
    "inexact-third": lambda: _first(tf.math.reciprocal, 3.0) != float(np.float32(1 / 3)),
    "onednn-float16": _onednn_takes_float16,
    "x86-64": lambda: platform.machine() in _MACHINES["x86-64"],
}


def measured_traits() -> tuple[str, ...]:
    """The names of the traits that this processor has, sorted; it runs eager ops on the CPU."""
    with tf.device("CPU:0"):
        return tuple(name for name in sorted(_MEASURES) if _MEASURES[name]())
