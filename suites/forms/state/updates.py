"""Programs that update a variable: recipes for its first value and for the added values; the sums are exact."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.derived.sizes import alike
from tf_opdiff.suites.reference.control_flow import control_dependencies as ref


def pair(draw, dtype, *shape):
    """A recipe: where a variable starts, and what is added to it; quarters, or small integers."""
    dtype = np.dtype(dtype)
    low = 0 if dtype.kind == "u" else -8
    start, delta = (draw.integers(*shape, low=low, high=8) for _ in range(2))
    if dtype.kind not in "iu":
        start, delta = start + 0.25, delta + 0.5
    turn = 1 + 2j if dtype.kind == "c" else 1
    return (start * turn).astype(dtype), (delta * turn).astype(dtype)


def vector(draw, dtype):
    """A recipe: exact sums; at the end infinities, NaN and zeros, or integers that wrap around."""
    start, delta = pair(draw, dtype, SIZE)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        start[-3:], delta[-3:] = [limits.max, limits.min, limits.max], [1, limits.max, limits.max]
    else:
        start[-6:], delta[-6:] = [np.inf, np.inf, np.nan, -0.0, 0.0, 1.0], [1.0, -np.inf, 1.0, -0.0, -0.0, -1.0]
    return start, delta


def rising(draw, dtype):
    """A recipe: a positive first sum, for programs that branch on it."""
    return tuple(np.abs(x) for x in pair(draw, dtype, 3, 5))


def falling(draw, dtype):
    """A recipe: a negative first sum."""
    return tuple(-np.abs(x) for x in pair(draw, dtype, 3, 5))


VECTOR = {"vector": vector}
MATRIX = {"matrix": lambda draw, dtype: pair(draw, dtype, 3, 5)}
SHAPES = {"scalar": pair, "empty": lambda draw, dtype: pair(draw, dtype, 0, 3), **MATRIX}
SIZES = {name: lambda draw, dtype, shape=shape: pair(draw, dtype, *shape) for name, (shape,) in alike(1).items()}
BRANCHES = {"rising": rising, "falling": falling}


#: Both branches are in a graph; eager execution has only the one taken.
BOTH_BRANCHES = {"eager": "ReadVariableOp", **dict.fromkeys(MODES[1:], "AssignAddVariableOp;AssignSubVariableOp")}
CONTEXT = "https://www.tensorflow.org/api_docs/python/tf/Graph#control_dependencies"
PRUNED = "Only ops constructed in the context wait for the update; nothing fetched needs it, and it never runs."
#: The contract of a v1 graph that prunes the update away.
NOT_RUN = {"*/graph": Side(reference=ref.pruned, why=PRUNED, link=CONTEXT)}
