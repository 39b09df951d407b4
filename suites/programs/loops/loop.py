"""`tf.while_loop`: numbers of iterations, their limits, and gradients, with v2's control flow and with v1's.

XLA differentiates a loop only if `maximum_iterations` bounds it, so most loops here have it.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import XLA, loops, roundings


def _powers(n):
    """A program: x to the power n + 1, by a loop with `maximum_iterations`."""

    def program(tf, api, x):
        body = lambda i, y: (i + 1, y * x)  # noqa: E731
        return api.while_loop(lambda i, _: i < n, body, (tf.constant(0), x), maximum_iterations=4)[1]

    return program


def limited(tf, api, x):
    """A loop without an end of its own, ended by `maximum_iterations`."""
    return api.while_loop(lambda y, _: True, lambda y, n: (y * x, n + 1), (x, tf.constant(0)), maximum_iterations=2)


def limit_zero(tf, api, x):
    """No iteration is allowed."""
    return api.while_loop(lambda y, _: True, lambda y, n: (y * x, n + 1), (x * 2, 0), maximum_iterations=0)


def limit_negative(tf, api, x):
    """A negative number of iterations is allowed."""
    return api.while_loop(lambda y, _: True, lambda y, n: (y * x, n + 1), (x * 2, 0), maximum_iterations=-1)


def limit_tensor(tf, api, x, n):
    """The largest number of iterations is an input."""
    return api.while_loop(lambda y, _: True, lambda y, k: (y * x, k + 1), (x, tf.constant(0)), maximum_iterations=n)


def limit_vector(tf, api, x):
    """A vector in place of the largest number of iterations."""
    return api.while_loop(lambda y, _: True, lambda y, n: (y * x, n + 1), (x, 0), maximum_iterations=[2, 3])[0]


def unbounded(tf, api, x):
    """A loop without `maximum_iterations`."""
    return api.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y * x), (tf.constant(0), x))[1]


def no_back_prop(tf, api, x):
    """A loop that gradients do not pass; the other term has one."""
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    return x * 3 + api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), back_prop=False)[1]


def one_at_a_time(tf, api, x):
    """One iteration at a time."""
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    start = (tf.constant(0), x)
    return api.while_loop(lambda i, _: i < 2, body, start, parallel_iterations=1, maximum_iterations=3)[1]


def counted_by_data(tf, api, x, n):
    """As many iterations as an input says."""
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    return api.while_loop(lambda i, _: i < n, body, (tf.constant(0), x), maximum_iterations=5)[1]


def until_large(tf, api, x):
    """Doubles until the first element exceeds 100, or 12 times; NaN ends the loop at once."""
    return api.while_loop(
        lambda y, n: y[0] < 100, lambda y, n: (y * 2, n + 1), (x, tf.constant(0)), maximum_iterations=12
    )


def assertion_inside(tf, api, x):
    """An assertion that fails in the second iteration."""

    def body(i, a):
        with tf.control_dependencies([tf.debugging.assert_less(i, 1, message="planted")]):
            return i + 1, a * x

    return api.while_loop(lambda i, _: i < 3, body, (tf.constant(0), x), maximum_iterations=3)[1]


_VECTOR = {"vector": lambda draw, d: (draw.values(d, 3),)}


def _counts(*counts):
    """Recipes: a vector, and a number of iterations."""
    return {
        f"{'minus_' if n < 0 else ''}{abs(n)}": lambda draw, d, n=n: (draw.values(d, 3), np.array(n, np.int32))
        for n in counts
    }


def doubled(x):
    """The reference of `until_large`."""
    n = 0
    while n < 12 and x[0] < 100:
        x, n = x * 2, n + 1
    return x, np.int32(n)


def _power(n):
    return lambda x: x ** (n + 1)


def _power_vjp(n):
    return lambda g, x: g * (n + 1) * x**n


UNBOUNDED = {
    "*/xla": Side(
        reference=lambda x: x**3,
        vjp=raises("INVALID_ARGUMENT"),
        why="XLA stores the iterations for the gradient in a list of fixed size, which needs maximum_iterations",
        link=XLA,
    )
}
_NO_ASSERTION = {
    "*/xla": Side(
        reference=lambda x: x**4, why="XLA compiles no assertion: tf.debugging.assert_less does nothing there", link=XLA
    )
}


SPECS = (
    *loops(
        "loop-assertion",
        assertion_inside,
        ops="While",
        reference=raises("INVALID_ARGUMENT", "planted"),
        ulp=roundings(3),
        recipes=_VECTOR,
        contract=_NO_ASSERTION,
    ),
    *loops(
        "loop-counted",
        counted_by_data,
        reference=lambda x, n: x ** (1 + min(max(n, 0), 5)),
        vjp=lambda g, x, n: (g * (1 + min(max(n, 0), 5)) * x ** min(max(n, 0), 5), None),
        ulp=roundings(5),
        recipes=_counts(0, 1, 3, 5, 9, -2),
    ),
    *loops(
        "loop-limit",
        limited,
        reference=lambda x: (x**3, np.int32(2)),
        vjp=lambda g, x: g[0] * 3 * x * x,
        ulp=roundings(2),
        recipes=_VECTOR,
        constant=("output[1]",),
    ),
    *loops(
        "loop-limit-negative",
        limit_negative,
        reference=lambda x: (x * 2, np.int32(0)),
        recipes=_VECTOR,
        constant=("output[1]",),
        ulp=ROUNDED,
    ),
    *loops(
        "loop-limit-tensor",
        limit_tensor,
        reference=lambda x, n: (x ** (1 + max(n, 0)), np.int32(max(n, 0))),
        ulp=roundings(3),
        recipes=_counts(0, 1, 3, -2),
        constant=("output[1]",),
    ),
    *loops(
        "loop-limit-vector",
        limit_vector,
        reference=raises("ValueError", "scalar"),
        recipes=_VECTOR,
    ),
    *loops(
        "loop-limit-zero",
        limit_zero,
        reference=lambda x: (x * 2, np.int32(0)),
        vjp=lambda g, x: g[0] * 2,
        recipes=_VECTOR,
        constant=("output[1]",),
        ulp=ROUNDED,
    ),
    *loops(
        "loop-no-back-prop",
        no_back_prop,
        reference=lambda x: x * 3 + x**3,
        vjp=lambda g, x: g * 3,
        recipes=_VECTOR,
        ulp={"output": 3, "grad": 0.5},
    ),
    *loops(
        "loop-one-at-a-time",
        one_at_a_time,
        reference=_power(2),
        vjp=_power_vjp(2),
        ulp=roundings(2),
        recipes=_VECTOR,
    ),
    *loops(
        "loop-two-iterations",
        _powers(2),
        reference=_power(2),
        vjp=_power_vjp(2),
        ulp=roundings(2),
        recipes=_VECTOR,
    ),
    *loops(
        "loop-unbounded",
        unbounded,
        reference=_power(2),
        vjp=_power_vjp(2),
        ulp=roundings(2),
        recipes=_VECTOR,
        contract=UNBOUNDED,
    ),
    *loops(
        "loop-until-large",
        until_large,
        reference=doubled,
        vjp=lambda g, x: g[0] * 2.0 ** doubled(x)[1],
        recipes={
            "near": lambda draw, d: (draw.uniform(3, low=30, high=60).astype(d),),
            "far": lambda draw, d: (draw.uniform(3, low=1e-3, high=1e-2).astype(d),),
            "above": lambda draw, d: (draw.uniform(3, low=101, high=200).astype(d),),
            "nan": lambda draw, d: (np.array([np.nan, 1, 3], d),),
        },
    ),
    *loops(
        "loop-zero-iterations",
        _powers(0),
        reference=lambda x: x,
        vjp=lambda g, x: g,
        recipes=_VECTOR,
    ),
)
