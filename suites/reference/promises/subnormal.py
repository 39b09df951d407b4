"""Subnormals as a processor sees them that flushes them to zero."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import is_float

#: TensorFlow runs CPU kernels, and what XLA compiles for a CPU, on threads that take subnormals for zeros.
WHY = "TensorFlow's CPU threads flush subnormals to zero"
LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/platform/denormal.h"
#: TensorFlow builds its kernels for GPUs so; bfloat16 is computed in float32 there. XLA for GPUs keeps subnormals.
GPU_WHY = "TensorFlow's kernels for GPUs are compiled with ftz=true: float32 subnormals are zeros"
GPU_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/tensorflow.bzl"
#: Alternatives, as of a spec: arrays that an element may keep by itself, and whole alternatives, which are tuples.
Others = list[Any]
#: The variant of a device that preserves them.
DENORMALS = "denormals"


def flushed(x: np.ndarray) -> np.ndarray:
    """The values (float64) that are left of float16, bfloat16, float32 or float64 inputs: zero keeps its sign.

    float16 is computed in float32, where its subnormals are normal numbers.
    """
    return np.where(np.abs(x) < 2.0**-126, np.copysign(0.0, x), x)


def flushed_on_gpu(x: np.ndarray) -> np.ndarray:
    """The values that are left of them where only float32 is flushed: numbers too small for float32 are of float64."""
    return x if np.asarray(x).dtype == bool else np.where(np.abs(x) < 2.0**-150, x, flushed(x))


def wholes(*results: np.ndarray) -> Others:
    """Each result as a whole alternative: a processor that flushes subnormals does so at every element."""
    return [(result,) for result in results]


def flushed_in(dtype: np.dtype, x: np.ndarray, slack: float = 1.0) -> np.ndarray:
    """The values (widened) that are left where a processor flushes the subnormals of a dtype; others are unchanged.

    Those of float16 stay: it is computed in float32. Each part of a complex number is flushed by itself.

    Args:
      dtype: the dtype of the case.
      x: of any shape; arrays that are neither float nor complex are returned unchanged.
      slack: numbers below this times the smallest normal number are flushed.
    """
    x = np.asarray(x)
    if x.dtype.kind == "c":
        parts = np.empty_like(x)
        part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
        parts.real, parts.imag = flushed_in(part, x.real, slack), flushed_in(part, x.imag, slack)
        return parts
    real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    if x.dtype.kind != "f" or not is_float(real) or real == np.float16:
        return x
    return np.where(np.abs(x) < slack * float(ml_dtypes.finfo(real).smallest_normal), np.copysign(0, x), x)
