"""Examples for queues, and specs of programs that take them in a session."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c25_queues.reference import refuses

NO_KERNEL = "XLA has no kernel for queues, which are resources of the host."
HOST_ONLY = {"*/xla": Side(reference=refuses, why=NO_KERNEL)}


def examples(draw, dtype):
    """Quarters, no two alike, in some order."""
    return ((np.argsort(draw.bits(12)) / 4 - 1.125).astype(dtype),)


def with_validation(draw, dtype):
    """Examples, and large ones for validation."""
    return *examples(draw, dtype), (32 + np.argsort(draw.bits(4)) / 4).astype(dtype)


def in_session(recipe=examples, **spec):
    return Spec(recipes={"examples": recipe}, modes=("graph",), sessions=True, **spec)
