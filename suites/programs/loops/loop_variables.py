"""`tf.while_loop`: loop variables and nested loops, with v2's control flow and with v1's.

XLA differentiates a loop only if `maximum_iterations` bounds it, so each loop here has it.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import loops, roundings


def cond_inside(tf, api, x):
    """A cond in a loop: the sign of the sum selects the branch, anew in each iteration."""

    def body(i, a):
        return i + 1, api.cond(tf.reduce_sum(a) > 0, lambda: a * -2, lambda: a + x)

    return api.while_loop(lambda i, _: i < 4, body, (tf.constant(0), x), maximum_iterations=4)[1]


def fibonacci(tf, api, x, y):
    """Each iteration reads both variables of the last one."""
    body = lambda i, a, b: (i + 1, b, a + b)  # noqa: E731
    return api.while_loop(lambda i, *_: i < 6, body, (tf.constant(0), x, y), maximum_iterations=6)[2]


def integer_variable(tf, api, x):
    """An integer loop variable multiplies a float one: the gradient passes the float one alone."""
    body = lambda i, k, a: (i + 1, k * 2, a * tf.cast(k, tf.float32))  # noqa: E731
    out = api.while_loop(lambda i, *_: i < 3, body, (tf.constant(0), tf.constant(1), x), maximum_iterations=3)
    return out[2], out[1] + tf.cast(x[0] * 0, tf.int32)


def loop_in_cond(tf, api, p, x):
    """A loop in one branch of a cond."""

    def looped():
        body = lambda i, y: (i + 1, y * x)  # noqa: E731
        return api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), maximum_iterations=2)[1]

    return api.cond(p, looped, lambda: x * 2)


def nested(tf, api, x, y):
    """A loop in a loop: each outer iteration multiplies by y twice and adds x."""

    def outer(i, a):
        inner = lambda j, b: (j + 1, b * y)  # noqa: E731
        a = api.while_loop(lambda j, _: j < 2, inner, (tf.constant(0), a), maximum_iterations=2)[1]
        return i + 1, a + x

    return api.while_loop(lambda i, _: i < 2, outer, (tf.constant(0), x), maximum_iterations=2)[1]


def nested_by_counter(tf, api, x):
    """An inner loop with as many iterations as the outer counter says: x to the power 1 + 0 + 1 + 2."""

    def outer(i, a):
        inner = lambda j, b: (j + 1, b * x)  # noqa: E731
        return i + 1, api.while_loop(lambda j, _: j < i, inner, (tf.constant(0), a), maximum_iterations=3)[1]

    return api.while_loop(lambda i, _: i < 3, outer, (tf.constant(0), x), maximum_iterations=3)[1]


def overwritten(tf, api, x, y):
    """The start of a loop variable does not matter after the first iteration."""
    body = lambda i, a: (i + 1, tf.sin(x) * 0 + y)  # noqa: E731
    return api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), maximum_iterations=2)[1]


def stopped_inside(tf, api, x):
    """Each iteration stops the gradient of one factor."""
    body = lambda i, a: (i + 1, tf.stop_gradient(a) * x)  # noqa: E731
    return api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), maximum_iterations=2)[1]


def swapped(tf, api, x, y):
    """Two loop variables change places: three times."""
    body = lambda i, a, b: (i + 1, b, a)  # noqa: E731
    return api.while_loop(lambda i, *_: i < 3, body, (tf.constant(0), x, y), maximum_iterations=3)[1:]


def unused_variable(tf, api, x, y, z):
    """y is a loop variable that changes, and nothing reads its last value; z stays as it is."""
    body = lambda i, a, b, c: (i + 1, a * x, b * a, c)  # noqa: E731
    out = api.while_loop(lambda i, *_: i < 2, body, (tf.constant(0), x, y, z), maximum_iterations=3)
    return out[1], out[3]


_VECTOR = {"vector": lambda draw, d: (draw.values(d, 3),)}
_TWO = {"vectors": lambda draw, d: (draw.values(d, 3), draw.values(d, 3))}


def signs(x):
    """The reference of `cond_inside`, with the factors of its result: y = factor * x."""
    factor = 1.0
    for _ in range(4):
        factor = factor * -2 if factor * np.sum(x) > 0 else factor + 1
    return factor


def _power(n):
    return lambda x: x ** (n + 1)


def _power_vjp(n):
    return lambda g, x: g * (n + 1) * x**n


SPECS = (
    *loops(
        "loop-cond-inside",
        cond_inside,
        reference=lambda x: signs(x) * x,
        vjp=lambda g, x: g * signs(x),
        ulp=roundings(3),
        recipes={name: lambda draw, d, s=s: (s * np.abs(draw.values(d, 3)),) for name, s in (("up", 1), ("down", -1))},
    ),
    *loops(
        "loop-fibonacci",
        fibonacci,
        reference=lambda x, y: 8 * x + 13 * y,
        vjp=lambda g, x, y: (8 * g, 13 * g),
        recipes=_TWO,
        bound={
            "output": lambda u, g, x, y: 6.1 * u * (8 * np.abs(x) + 13 * np.abs(y)),
            "grad": lambda u, g, x, y: 16 * u * 13 * np.abs(g),
        },
    ),
    *loops(
        "loop-in-cond",
        loop_in_cond,
        calls="cond",
        ops="StatelessIf;StatelessWhile",
        reference=lambda p, x: x**3 if p else x * 2,
        vjp=lambda g, p, x: (None, g * (3 * x * x if p else 2)),
        ulp=roundings(2),
        recipes={
            n: lambda draw, d, p=p: (np.array(p), draw.values(d, 3)) for n, p in (("false", False), ("true", True))
        },
    ),
    *loops(
        "loop-integer-variable",
        integer_variable,
        reference=lambda x: (x * 8, np.full((), 8, np.int32)),
        vjp=lambda g, x: g[0] * 8,
        recipes=_VECTOR,
        ulp=ROUNDED,
    ),
    *loops(
        "loop-nested",
        nested,
        reference=lambda x, y: (x * y * y + x) * y * y + x,
        vjp=lambda g, x, y: (g * (y**4 + y**2 + 1), g * x * (4 * y**3 + 2 * y)),
        recipes=_TWO,
        ulp=roundings(6),
    ),
    *loops(
        "loop-nested-by-counter",
        nested_by_counter,
        tier="full",
        reference=_power(3),
        vjp=_power_vjp(3),
        ulp=roundings(3),
        recipes=_VECTOR,
    ),
    *loops(
        "loop-overwritten",
        overwritten,
        reference=lambda x, y: y,
        vjp=lambda g, x, y: (np.zeros_like(x), g),
        recipes=_TWO,
        ulp=ROUNDED,
        unsigned_zeros=("grad[0]",),
    ),
    *loops(
        "loop-stopped-inside",
        stopped_inside,
        reference=_power(2),
        vjp=lambda g, x: g * x * x,
        ulp=roundings(2),
        recipes=_VECTOR,
    ),
    *loops(
        "loop-swapped",
        swapped,
        reference=lambda x, y: (y, x),
        vjp=lambda g, x, y: (g[1], g[0]),
        recipes=_TWO,
    ),
    *loops(
        "loop-unused-variable",
        unused_variable,
        reference=lambda x, y, z: (x**3, z),
        vjp=lambda g, x, y, z: (g[0] * 3 * x * x, None, g[1]),
        ulp=roundings(2),
        recipes={"vectors": lambda draw, d: tuple(draw.values(d, 3) for _ in range(3))},
        unsigned_zeros=("grad[1]",),
        contract=dict.fromkeys(
            ("*/function", "*/xla", "*/graph"),
            Side(
                reference=lambda x, y, z: (x**3, z),
                vjp=lambda g, x, y, z: (g[0] * 3 * x * x, np.zeros_like(y), g[1]),
                why="a While in a graph has a gradient for every float loop variable: zeros, where nothing reads it",
            ),
        ),
        v1={"contract": {}},
    ),
)
