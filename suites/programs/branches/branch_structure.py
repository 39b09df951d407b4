"""Branches of `tf.cond` that differ in structure, with v2's control flow and with v1's.

A graph holds both branches, so their results must agree in structure. An eager program runs one branch.
"""

import numpy as np

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either
from tf_opdiff.suites.forms.programs.control_flow import conds, eager, refused_by_graphs

_BRANCHES = either((3,))


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


def tuple_and_list(tf, api, p, x):
    """A tuple in one branch, a list in the other."""
    return tuple(api.cond(p, lambda: (x * 2, x), lambda: [x, x * 3]))


SPECS = (
    *conds(
        "branches-empty",
        empty,
        reference=lambda p, x: x * 2,
        recipes=_BRANCHES,
        v1={"reference": raises("ValueError", "at least one result")},
    ),
    *refused_by_graphs("branches-keys", keys, lambda x: x * 2, lambda x: x * 3),
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
    *refused_by_graphs("branches-none-in-one", none_in_one, lambda x: x * 2, lambda x: x),
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
    *refused_by_graphs("branches-numbers", numbers, lambda x: (x, x * 2), lambda x: x * 3),
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
    *refused_by_graphs(
        "branches-tuple-and-list", tuple_and_list, lambda x: (x * 2, x), lambda x: (x, x * 3), code="TypeError"
    ),
)
