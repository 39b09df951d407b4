"""Three planted faults of different severity, for a picture of the documentation. They are no faults of TensorFlow."""

import os
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec


def _ends(tf: Any, x: Any) -> Any:
    """A program that ends its process, as a kernel does whose check fails."""
    os.abort()


_SHARED: dict[str, Any] = {
    "dtypes": ("float32",),
    "recipes": {"plain": plain},
    "ulp": {"output": 2},
    "reference": lambda x: np.sin(x.astype(np.float64)),
}
SPECS = (
    Spec(name="planted-crash", ops="Sin", program=_ends, **_SHARED),
    Spec(name="planted-rounding", ops="Sin", program=lambda tf, x: tf.sin(x) * (1 + 2e-6), **_SHARED),
    Spec(name="planted-wrong-value", ops="Sin", program=lambda tf, x: tf.sin(x) + 0.25, **_SHARED),
)
