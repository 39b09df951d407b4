"""Predicates of `tf.cond` other than a boolean scalar tensor, with v2's control flow and with v1's."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import conds, eager

#: A graph refuses a Python bool, which would select a branch while the graph is built.
_PYTHON_BOOL = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/cond_v2.py"


def chosen(tf, api, p, x):
    """x times 2 where the predicate is true, else x times 3."""
    return api.cond(p, lambda: x * 2, lambda: x * 3)


def python_bool(tf, api, x):
    """A Python bool as the predicate."""
    return api.cond(True, lambda: x * 2, lambda: x * 3)


def none(tf, api, x):
    """None as the predicate."""
    return api.cond(None, lambda: x * 2, lambda: x * 3)


def text(tf, api, x):
    """A Python text as the predicate."""
    return api.cond("yes", lambda: x * 2, lambda: x * 3)


def _predicate(value, dtype, shape=()):
    """A recipe: a predicate, and a vector of the case's dtype."""
    return lambda draw, d: (np.full(shape, value, dtype), draw.values(d, 3))


def _vector(draw, d):
    """A recipe: a vector."""
    return (draw.values(d, 3),)


def by_truth(p, x):
    """A reference: a number is true unless it is zero."""
    return x * (2 if p.ravel()[0] else 3)


SPECS = (
    *conds(
        "predicate-int32",
        chosen,
        reference=by_truth,
        recipes={"zero": _predicate(0, np.int32), "two": _predicate(2, np.int32)},
        ulp=ROUNDED,
        v1={"reference": raises("TypeError")},
    ),
    *conds(
        "predicate-float32",
        chosen,
        reference=by_truth,
        recipes={"zero": _predicate(0, np.float32), "half": _predicate(0.5, np.float32)},
        ulp=ROUNDED,
        v1={"reference": raises("TypeError")},
    ),
    *conds(
        "predicate-none",
        none,
        reference=raises("ValueError"),
        recipes={"vector": _vector},
    ),
    *conds(
        "predicate-one-element",
        chosen,
        reference=by_truth,
        recipes={name: _predicate(name == "true", np.bool_, (1,)) for name in ("false", "true")},
        ulp=ROUNDED,
        v1={"reference": raises("ValueError", "must be rank 0")},
    ),
    *conds(
        "predicate-python-bool",
        python_bool,
        reference=raises("TypeError", "must not be a Python bool"),
        recipes={"vector": _vector},
        ulp=ROUNDED,
        contract=eager(lambda x: x * 2, link=_PYTHON_BOOL),
    ),
    *conds(
        "predicate-text",
        text,
        reference=lambda x: x * 2,
        recipes={"vector": _vector},
        modes=WITHOUT_XLA,  # XLA has no strings
        ulp=ROUNDED,
        v1={"reference": raises("TypeError")},
    ),
    *conds(
        "predicate-two-elements",
        chosen,
        reference=raises("ValueError"),
        recipes={name: _predicate(name == "true", np.bool_, (2,)) for name in ("false", "true")},
    ),
    *conds(
        "predicate-no-element",
        chosen,
        reference=raises("ValueError"),
        recipes={"empty": _predicate(False, np.bool_, (0,))},
    ),
)
