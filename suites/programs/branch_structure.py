"""Branches of `tf.cond` that differ in dtype, shape or structure, with v2's control flow and with v1's.

A graph holds both branches, so their results must agree in dtype and structure. An eager program runs one branch.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Sparse
from tf_opdiff.suites.forms.branches import ROUNDED, either
from tf_opdiff.suites.forms.control_flow import XLA, conds, eager, static_shapes
from tf_opdiff.suites.forms.errors import raises

_BRANCHES = either((3,))


def dtypes(tf, api, p, x):
    """Float in one branch, integer in the other."""
    return api.cond(p, lambda: x * 2, lambda: tf.cast(x, tf.int32))


def empty(tf, api, p, x):
    """Branches that return an empty list: the results are x and the length of the list."""
    return x * 2 + float(len(api.cond(p, list, list)))


def keys(tf, api, p, x):
    """Dicts with different keys."""
    return list(api.cond(p, lambda: {"a": x * 2}, lambda: {"b": x * 3}).values())


def key_order(tf, api, p, x):
    """Dicts with the same keys, in another order."""
    y = api.cond(p, lambda: {"a": x * 2, "b": x * 3}, lambda: {"b": x * 5, "a": x * 7})
    return y["a"], y["b"]


def nested_structure(tf, api, p, x):
    """The same nested structure in both branches."""
    y = api.cond(p, lambda: (x * 2, {"a": [x * 3]}), lambda: (x * 5, {"a": [x * 7]}))
    return y[0], y[1]["a"][0]


def none_in_one(tf, api, p, x):
    """A tensor in one branch, None in the other; the input stands for None, which is no tensor."""
    y = api.cond(p, lambda: x * 2, lambda: None)
    return tf.identity(x) if y is None else y


def none_in_both(tf, api, p, x):
    """A tensor and None in both branches; the second result is x times 0 if the None came back."""
    y, none = api.cond(p, lambda: (x * 2, None), lambda: (x * 3, None))
    return y, x * (0 if none is None else 1)


def nothing(tf, api, p, x):
    """Branches without a return statement; the result is x times 3 if the result is None."""

    def branch():
        tf.identity(x)

    return x * (3 if api.cond(p, branch, branch) is None else 5)


def numbers(tf, api, p, x):
    """Two results in one branch, one in the other."""
    y = api.cond(p, lambda: (x, x * 2), lambda: (x * 3,))
    return y if isinstance(y, (tuple, list)) else [y]


def not_callable(tf, api, p, x):
    """A tensor in place of the first branch."""
    return api.cond(p, x * 2, lambda: x)


def python_error(tf, api, p, x):
    """A branch whose Python code raises; the other one works."""

    def broken():
        raise ZeroDivisionError("planted")

    return api.cond(p, lambda: x * 2, broken)


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


def tuple_and_list(tf, api, p, x):
    """A tuple in one branch, a list in the other."""
    return tuple(api.cond(p, lambda: (x * 2, x), lambda: [x, x * 3]))


def taken(then, otherwise):
    """A reference: the result of the branch that the predicate selects."""
    return lambda p, x: then(x) if p else otherwise(x)


def _refused(name, program, then, otherwise, *, code="ValueError"):
    """The specs of branches that a graph refuses; an eager program gives the result of one of them.

    Documentation: ValueError if the branches do not return the same number of tensors, or tensors of different types.
    """
    return conds(
        name,
        program,
        reference=raises(code),
        recipes=_BRANCHES,
        ulp=ROUNDED,
        contract=eager(taken(then, otherwise)),
    )


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
    *_refused("branches-dtypes", dtypes, lambda x: x * 2, lambda x: x.astype(np.int32)),
    *conds(
        "branches-empty",
        empty,
        reference=lambda p, x: x * 2,
        recipes=_BRANCHES,
        v1={"reference": raises("ValueError", "at least one result")},
    ),
    *_refused("branches-keys", keys, lambda x: x * 2, lambda x: x * 3),
    *conds(
        "branches-key-order",
        key_order,
        reference=lambda p, x: (x * (2 if p else 7), x * (3 if p else 5)),
        vjp=lambda g, p, x: (None, g[0] * (2 if p else 7) + g[1] * (3 if p else 5)),
        recipes=_BRANCHES,
        ulp=ROUNDED,
        bound={"grad": lambda u, g, p, x: u * 4 * (7 * np.abs(g[0]) + 7 * np.abs(g[1]))},
    ),
    *conds(
        "branches-nested-structure",
        nested_structure,
        reference=lambda p, x: (x * (2 if p else 5), x * (3 if p else 7)),
        vjp=lambda g, p, x: (None, g[0] * (2 if p else 5) + g[1] * (3 if p else 7)),
        recipes=_BRANCHES,
        ulp=ROUNDED,
        bound={"grad": lambda u, g, p, x: u * 4 * (7 * np.abs(g[0]) + 7 * np.abs(g[1]))},
    ),
    *_refused("branches-none-in-one", none_in_one, lambda x: x * 2, lambda x: x),
    *conds(
        "branches-none-in-both",
        none_in_both,
        reference=lambda p, x: (x * (2 if p else 3), np.zeros_like(x)),
        recipes=_BRANCHES,
        ulp=ROUNDED,
        unsigned_zeros=("output[1]",),
        v1={"reference": raises("ValueError", "None values not supported")},
    ),
    *conds(
        "branches-nothing",
        nothing,
        reference=lambda p, x: x * 3,
        recipes=_BRANCHES,
        ulp=ROUNDED,
        v1={"reference": raises("ValueError", "must have a return value")},
    ),
    *_refused("branches-numbers", numbers, lambda x: (x, x * 2), lambda x: x * 3),
    *conds(
        "branches-not-callable",
        not_callable,
        reference=raises("TypeError", "'true_fn' must be callable"),
        recipes=_BRANCHES,
    ),
    *conds(
        "branches-python-error",
        python_error,
        reference=raises("ZeroDivisionError", "planted"),
        recipes={"true": _BRANCHES["true"]},
        contract=eager(lambda p, x: x * 2),
    ),
    *conds(
        "branches-python-float",
        python_float,
        reference=lambda p, x: x[0] * 2 if p else np.float64(1.5),
        recipes=_BRANCHES,
    ),
    *_refused("branches-python-integer", python_integer, lambda x: x[0] * 2, lambda x: np.int32(3)),
    *_refused("branches-ragged", ragged, lambda x: x, lambda x: x * 2),
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
    *_refused("branches-tuple-and-list", tuple_and_list, lambda x: (x * 2, x), lambda x: (x, x * 3), code="TypeError"),
)
