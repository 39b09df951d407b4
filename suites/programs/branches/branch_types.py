"""Branches of `tf.cond` whose results differ in type or shape, with v2's control flow and with v1's."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Sparse
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either, taken
from tf_opdiff.suites.forms.programs.control_flow import XLA, conds, refused_by_graphs, static_shapes

_BRANCHES = either((3,))


def dtypes(tf, api, p, x):
    """Float in one branch, integer in the other."""
    return api.cond(p, lambda: x * 2, lambda: tf.cast(x, tf.int32))


def python_float(tf, api, p, x):
    """A tensor in one branch, a Python float in the other."""
    return api.cond(p, lambda: x[0] * 2, lambda: 1.5)


def python_integer(tf, api, p, x):
    """A float tensor in one branch, a Python integer in the other."""
    return api.cond(p, lambda: x[0] * 2, lambda: 3)


def ragged(tf, api, p, x):
    """A ragged tensor in one branch, a tensor in the other."""
    y = api.cond(p, lambda: tf.RaggedTensor.from_row_splits(x, [0, 1, 3]), lambda: x * 2)
    return y.flat_values if isinstance(y, tf.RaggedTensor) else y


def ranks(tf, api, p, x):
    """A vector in one branch, a scalar in the other."""
    return api.cond(p, lambda: x * 2, lambda: tf.reduce_max(x))


def shapes(tf, api, p, x):
    """Vectors of three and two elements; and their sum, whose gradient has one shape."""
    y = api.cond(p, lambda: x * 2, lambda: x[:2] * 3)
    return tf.stop_gradient(y), tf.reduce_sum(y)


def slices(tf, api, p, x):
    """A dense gradient in one branch, and in the other slices of a gradient, with the same shape."""
    return api.cond(p, lambda: tf.reduce_sum(x * x), lambda: tf.reduce_sum(tf.gather(x, [2, 0, 2])))


def slices_vjp(g, p, x):
    """The VJP of `slices`: IndexedSlices from both branches, because a graph needs one type for both."""
    if p:
        return None, Sparse(g * 2 * x, np.array([0, 1, 2]), (3,))
    return None, Sparse(np.stack([g, g, g]), np.array([2, 0, 2]), (3,))


def shapes_vjp(g, p, x):
    """The VJP of `shapes`: zeros where the branch that was taken reads nothing."""
    return None, g[1] * np.array([2, 2, 2] if p else [3, 3, 0.0])


#: The reference of `shapes`.
_SHAPES = taken(lambda x: (x * 2, np.sum(x * 2)), lambda x: (x[:2] * 3, np.sum(x[:2] * 3)))


SPECS = (
    *refused_by_graphs("branches-dtypes", dtypes, lambda x: x * 2, lambda x: x.astype(np.int32)),
    *conds(
        "branches-python-float",
        python_float,
        reference=lambda p, x: x[0] * 2 if p else np.float64(1.5),
        recipes=_BRANCHES,
    ),
    *refused_by_graphs("branches-python-integer", python_integer, lambda x: x[0] * 2, lambda x: np.int32(3)),
    *refused_by_graphs("branches-ragged", ragged, lambda x: x, lambda x: x * 2),
    *conds(
        "branches-ranks",
        ranks,
        reference=taken(lambda x: x * 2, np.max),
        recipes=_BRANCHES,
        contract=static_shapes(),
    ),
    *conds(
        "branches-shapes",
        shapes,
        reference=_SHAPES,
        vjp=shapes_vjp,
        recipes=_BRANCHES,
        ulp=ROUNDED,
        bound={"output[1]": lambda u, g, p, x: 8 * u * 3 * np.sum(np.abs(x))},
        unsigned_zeros=("grad",),
        contract={
            "*/xla": Side(
                reference=_SHAPES,
                vjp=raises("INVALID_ARGUMENT"),
                why="XLA compiles for static shapes: it pads the result of a branch, and has no gradient through that",
                link=XLA,
            )
        },
    ),
    *conds(
        "branches-slices",
        slices,
        reference=taken(lambda x: np.sum(x * x), lambda x: np.sum(x[[2, 0, 2]])),
        vjp=slices_vjp,
        recipes=_BRANCHES,
        bound={"output": lambda u, g, p, x: 4 * u * np.sum(x * x if p else np.abs(x[[2, 0, 2]]))},
        ulp={"grad": 0.5},
        contract={
            "*/eager": Side(
                reference=taken(lambda x: np.sum(x * x), lambda x: np.sum(x[[2, 0, 2]])),
                vjp=lambda g, p, x: (None, g * 2 * x) if p else slices_vjp(g, p, x),
                why="an eager cond runs one branch, and only that is on the tape",
            )
        },
        v1={"vjp": lambda g, p, x: (None, g * 2 * x if p else np.array([g, np.zeros_like(g), 2 * g]))},
    ),
)
