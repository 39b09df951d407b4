"""`tf.case`: none, one or several predicates hold, with and without a default."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import XLA, conds, eager, static_shapes


def default(tf, api, p, q, x):
    """The first branch whose predicate holds, or the default."""
    return api.case([(p, lambda: x * 2), (q, lambda: x * x)], default=lambda: x * 5)


def exclusive(tf, api, p, q, x):
    """The same; at most one predicate may hold."""
    return api.case([(p, lambda: x * 2), (q, lambda: x * x)], default=lambda: x * 5, exclusive=True)


def without_default(tf, api, p, q, x):
    """One predicate must hold."""
    return api.case([(p, lambda: x * 2), (q, lambda: x * x)])


def exclusive_without_default(tf, api, p, q, x):
    """Exactly one predicate must hold."""
    return api.case([(p, lambda: x * 2), (q, lambda: x * x)], exclusive=True)


def dtypes(tf, api, p, q, x):
    """A default of another dtype."""
    return api.case([(p, lambda: x * 2), (q, lambda: x * x)], default=lambda: tf.cast(x, tf.int32))


def shapes(tf, api, p, q, x):
    """Branches of three shapes; their sum has one shape."""
    return tf.reduce_sum(api.case([(p, lambda: x[:2] * 2), (q, lambda: x * x)], default=lambda: x[0] * 5))


def nothing_to_choose(tf, api, p, q, x):
    """No pairs: the default."""
    return api.case([], default=lambda: x * 5)


def no_branch(tf, api, p, q, x):
    """No pairs and no default."""
    return api.case([])


def not_pairs(tf, api, p, q, x):
    """Lists in place of pairs."""
    return api.case([[p, lambda: x * 2]], default=lambda: x * 5)


def _recipes(*pairs):
    """Recipes: two predicates, named by their letters, and a vector."""
    return {
        f"{p}_{q}".lower(): lambda draw, d, p=p, q=q: (np.array(p), np.array(q), draw.values(d, 3)) for p, q in pairs
    }


_ALL = _recipes(*((p, q) for p in (False, True) for q in (False, True)))
_ONE = _recipes((False, True), (True, False))
_NONE = _recipes((False, False))
_BOTH = _recipes((True, True))


def first(p, q, x):
    """The first branch whose predicate holds, or the default."""
    return x * 2 if p else x * x if q else x * 5


def first_vjp(g, p, q, x):
    """The VJP of `first`."""
    return None, None, g * (2 if p else 2 * x if q else 5)


def summed(p, q, x):
    """The reference of `shapes`."""
    return np.sum(x[:2] * 2) if p else np.sum(x * x) if q else x[0] * 5


def summed_vjp(g, p, q, x):
    """The VJP of `shapes`."""
    zeros = np.zeros_like(x)
    if p:
        zeros[:2] = 2 * g
        return None, None, zeros
    zeros[0] = 5 * g
    return None, None, 2 * x * g if q else zeros


def _without_assertions(reference):
    """The contract of an assertion that fails: XLA compiles none."""
    why = "XLA compiles no assertion: tf.debugging.Assert does nothing there"
    return {"*/xla": Side(reference=reference, why=why, link=XLA)}


SPECS = (
    *conds(
        "case-both",
        exclusive,
        calls="case",
        reference=raises("INVALID_ARGUMENT", "exclusive=True"),
        recipes=_BOTH,
        ulp=ROUNDED,
        contract=_without_assertions(first),
    ),
    *conds(
        "case-default",
        default,
        calls="case",
        reference=first,
        vjp=first_vjp,
        recipes=_ALL,
        ulp=ROUNDED,
    ),
    *conds(
        "case-dtypes",
        dtypes,
        calls="case",
        reference=raises("ValueError"),
        recipes=_NONE,
        contract=eager(lambda p, q, x: x.astype(np.int32)),
    ),
    *conds(
        "case-exclusive",
        exclusive,
        calls="case",
        reference=first,
        vjp=first_vjp,
        recipes=_ONE | _NONE,
        ulp=ROUNDED,
    ),
    *conds(
        "case-exclusive-without-default",
        exclusive_without_default,
        calls="case",
        reference=first,
        vjp=first_vjp,
        recipes=_ONE,
        ops="If",
        ulp=ROUNDED,
    ),
    *conds(
        "case-exclusive-none",
        exclusive_without_default,
        calls="case",
        reference=raises("INVALID_ARGUMENT", "None of conditions evaluated as True"),
        recipes=_NONE,
        ops="If",
        ulp=ROUNDED,
        contract=_without_assertions(lambda p, q, x: x * x),
    ),
    *conds(
        "case-no-branch",
        no_branch,
        calls="case",
        reference=raises("ValueError"),
        recipes=_NONE,
    ),
    *conds(
        "case-none",
        without_default,
        calls="case",
        reference=raises("INVALID_ARGUMENT", "None of conditions evaluated as True"),
        recipes=_NONE,
        ops="If",
        ulp=ROUNDED,
        contract=_without_assertions(lambda p, q, x: x * x),
    ),
    *conds(
        "case-not-pairs",
        not_pairs,
        calls="case",
        reference=raises("TypeError"),
        recipes=_NONE,
    ),
    *conds(
        "case-nothing-to-choose",
        nothing_to_choose,
        calls="case",
        ops="",
        v1_ops="",
        reference=lambda p, q, x: x * 5,
        vjp=lambda g, p, q, x: (None, None, g * 5),
        recipes=_NONE,
        ulp=ROUNDED,
    ),
    *conds(
        "case-shapes",
        shapes,
        calls="case",
        reference=summed,
        vjp=summed_vjp,
        recipes=_ALL,
        ulp={"grad": 0.5},
        bound={"output": lambda u, g, p, q, x: 4 * u * np.sum(np.abs(x) * 5 + x * x)},
        contract=static_shapes(),
    ),
    *conds(
        "case-without-default",
        without_default,
        calls="case",
        reference=first,
        vjp=first_vjp,
        recipes=_ONE | _BOTH,
        ops="If",
        ulp=ROUNDED,
    ),
)
