"""Subnormals as a processor sees them that flushes them to zero."""

import numpy as np

#: TensorFlow runs CPU kernels, and what XLA compiles for a CPU, on threads that take subnormals for zeros.
WHY = "TensorFlow's CPU threads flush subnormals to zero"
LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/platform/denormal.h"
#: The variant of a device that preserves them.
DENORMALS = "denormals"


def flushed(x: np.ndarray) -> np.ndarray:
    """The values (float64) that are left of float16, bfloat16, float32 or float64 inputs: zero keeps its sign.

    float16 is computed in float32, where its subnormals are normal numbers.
    """
    return np.where(np.abs(x) < 2.0**-126, np.copysign(0.0, x), x)
