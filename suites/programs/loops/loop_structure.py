"""`tf.while_loop` with loop variables that change their shape, dtype or structure, with v2's control flow and v1's."""

import numpy as np

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import WHILE, eager, loops, static_shapes


def fewer(n):
    """A condition: the first loop variable is less than n."""
    return lambda i, *_: i < n


def grows(tf, api, x):
    """A vector that doubles its length, without shape invariants."""
    return api.while_loop(fewer(2), lambda i, y: (i + 1, tf.concat([y, y], 0)), (tf.constant(0), x))[1]


def grows_declared(tf, api, x):
    """A vector that gets one element longer in each iteration, with shape invariants."""
    start = (tf.constant(0), x[:1])
    shapes = (tf.TensorShape([]), tf.TensorShape([None]))
    longer = lambda i, y: (i + 1, tf.concat([y, x[i : i + 1] * y[:1]], 0))  # noqa: E731
    return tf.reduce_sum(api.while_loop(fewer(3), longer, start, shape_invariants=shapes, maximum_iterations=5)[1])


def same_shape_declared(tf, api, x):
    """A vector that keeps its shape, declared without one."""
    shapes = (tf.TensorShape([]), tf.TensorShape(None))
    double = lambda i, y: (i + 1, y * x)  # noqa: E731
    y = api.while_loop(fewer(2), double, (tf.constant(0), x), shape_invariants=shapes, maximum_iterations=3)[1]
    return tf.ensure_shape(y, x.shape)


def wrong_invariant(tf, api, x):
    """A shape invariant that the first value does not have."""
    shapes = (tf.TensorShape([]), tf.TensorShape([7]))
    y = api.while_loop(fewer(2), lambda i, y: (i + 1, y), (tf.constant(0), x), shape_invariants=shapes)[1]
    return y, tf.ones_like(y) * x[0]


def gains_rank(tf, api, x):
    """A scalar that becomes a vector."""
    return api.while_loop(fewer(1), lambda i, y: (i + 1, y * x), (tf.constant(0), x[0]))[1]


def changes_dtype(tf, api, x):
    """A float that becomes an integer."""
    return api.while_loop(fewer(1), lambda i, y: (i + 1, tf.cast(y, tf.int32)), (tf.constant(0), x))[1]


def python_counter(tf, api, x):
    """A counter that is a Python integer."""
    i, y = api.while_loop(fewer(3), lambda i, y: (i + 1, y * x), (0, x))
    return tf.cast(i, tf.float32) * y


def drops_variable(tf, api, x):
    """A body that returns one of its two variables."""
    return api.while_loop(fewer(2), lambda i, y: (i + 1,), (tf.constant(0), x))[-1]


def adds_variable(tf, api, x):
    """A body that returns one variable more."""
    return api.while_loop(fewer(2), lambda i, y: (i + 1, y, y), (tf.constant(0), x))[1]


def list_for_tuple(tf, api, x):
    """A body that returns a list inside, where the variables have a tuple."""
    body = lambda i, pair: (i + 1, [pair[0] * 2, pair[1]])  # noqa: E731
    return api.while_loop(fewer(2), body, (tf.constant(0), (x, x)))[1][0]


def dict_variable(tf, api, x):
    """A dict as a loop variable, whose keys the body returns in another order."""
    body = lambda i, d: (i + 1, {"b": d["a"] * 2, "a": d["b"] + x})  # noqa: E731
    y = api.while_loop(fewer(3), body, (tf.constant(0), {"a": x, "b": x * 3}), maximum_iterations=4)[1]
    return y["a"], y["b"]


def other_keys(tf, api, x):
    """A body that returns a dict with another key."""
    body = lambda i, d: (i + 1, {"b": d["a"] * 2})  # noqa: E731
    return list(api.while_loop(fewer(1), body, (tf.constant(0), {"a": x}))[1].values())


def returns_none(tf, api, x):
    """A body that returns None in place of a tensor."""
    return api.while_loop(fewer(1), lambda i, y: (i + 1, None), (tf.constant(0), x))[1]


def no_variables(tf, api, x):
    """No loop variables."""
    api.while_loop(lambda: tf.reduce_sum(x) > 1e9, lambda: (), ())
    return x * 2


def vector_condition(tf, api, x):
    """A condition that is a vector of three."""
    return api.while_loop(lambda i, y: y < 0, lambda i, y: (i + 1, y * 0), (tf.constant(0), x))[1]


def integer_condition(tf, api, x):
    """A condition that is an integer: it counts down to zero."""
    return api.while_loop(lambda i, y: i, lambda i, y: (i - 1, y * x), (tf.constant(2), x))[1]


def python_condition(tf, api, x):
    """A condition that is a Python bool, False."""
    return api.while_loop(lambda i, y: False, lambda i, y: (i + 1, y * x), (tf.constant(0), x * 2))[1]


def not_callable(tf, api, x):
    """A tensor in place of the body."""
    return api.while_loop(fewer(2), x, (tf.constant(0), x))[1]


def no_parallel_iterations(tf, api, x):
    """Zero parallel iterations."""
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    return api.while_loop(fewer(2), body, (tf.constant(0), x), parallel_iterations=0)[1]


def ragged(tf, api, x):
    """A ragged tensor as a loop variable, whose rows stay."""
    rows = tf.RaggedTensor.from_row_splits(x, [0, 1, 3])
    y = api.while_loop(fewer(2), lambda i, r: (i + 1, r * 2.0), (tf.constant(0), rows), maximum_iterations=3)[1]
    return y.flat_values


_VECTOR = {"vector": lambda draw, d: (draw.values(d, 3),)}
_EAGER = lambda reference: eager(reference, link=WHILE)  # noqa: E731


def _refused(name, program, code, result, says="", **fields):
    """The specs of a loop that a graph refuses with one code; an eager loop returns a result or fails so."""
    contract = _EAGER(result) if result else {}
    return loops(name, program, reference=raises(code, says), recipes=_VECTOR, contract=contract, ulp=ROUNDED, **fields)


def grown(x):
    """The sum of `grows_declared`: the first element times itself and the next two, after the first."""
    a, b, c = x
    return a + a * a + b * a + c * a


def keyed(x):
    """The values of `dict_variable`, computed with one rounding for each operation."""
    a, b = x, x * 3
    for _ in range(3):
        a, b = b + x, a * 2
    return a, b


SPECS = (
    *_refused("loop-adds-variable", adds_variable, "ValueError", None),
    *_refused("loop-changes-dtype", changes_dtype, "TypeError", lambda x: x.astype(np.int32)),
    *loops(
        "loop-dict",
        dict_variable,
        reference=keyed,
        vjp=lambda g, x: g[0] * 9 + g[1] * 6,
        recipes=_VECTOR,
        bound={
            "output": lambda u, g, x: 23.5 * u * np.abs(x),
            "grad": lambda u, g, x: 31 * u * (np.abs(g[0]) + np.abs(g[1])),
        },
    ),
    *_refused("loop-drops-variable", drops_variable, "ValueError", None),
    *_refused("loop-gains-rank", gains_rank, "ValueError", lambda x: x[0] * x),
    *_refused("loop-grows", grows, "ValueError", lambda x: np.tile(x, 4)),
    *loops(
        "loop-grows-declared",
        grows_declared,
        reference=grown,
        vjp=lambda g, x: g * np.array([1 + 2 * x[0] + x[1] + x[2], x[0], x[0]]),
        recipes=_VECTOR,
        bound={
            "output": lambda u, g, x: 6.4 * u * np.sum(np.abs(x) * (1 + np.abs(x[0]))),
            "grad": lambda u, g, x: 8 * u * np.abs(g) * np.sum(1 + 2 * np.abs(x)),
        },
        contract=static_shapes(),
    ),
    *loops(
        "loop-integer-condition",
        integer_condition,
        reference=lambda x: x * x * x,
        recipes=_VECTOR,
        ulp={"output": 1.5},
        v1={"reference": raises("TypeError", "expected type of bool")},
    ),
    *_refused("loop-list-for-tuple", list_for_tuple, "TypeError", None),
    *_refused("loop-no-parallel-iterations", no_parallel_iterations, "TypeError", None, "positive integer"),
    *_refused("loop-no-variables", no_variables, "ValueError", None),
    *_refused("loop-not-callable", not_callable, "TypeError", None, "'body' must be callable"),
    *_refused("loop-other-keys", other_keys, "ValueError", None),
    *loops(
        "loop-python-condition",
        python_condition,
        reference=lambda x: x * 2,
        recipes=_VECTOR,
        ulp=ROUNDED,
    ),
    *loops(
        "loop-python-counter",
        python_counter,
        reference=lambda x: 3 * x**4,
        recipes=_VECTOR,
        ulp={"output": 4},
    ),
    *loops(
        "loop-ragged",
        ragged,
        tier="full",
        reference=lambda x: x * 4,
        vjp=lambda g, x: g * 4,
        recipes=_VECTOR,
        ulp=ROUNDED,
    ),
    *_refused("loop-returns-none", returns_none, "ValueError", None),
    *loops(
        "loop-same-shape-declared",
        same_shape_declared,
        reference=lambda x: x**3,
        vjp=lambda g, x: g * 3 * x * x,
        recipes=_VECTOR,
        ulp={"output": 1.5, "grad": 5},
    ),
    *_refused("loop-vector-condition", vector_condition, "ValueError", None),
    *loops(
        "loop-wrong-invariant",
        wrong_invariant,
        reference=lambda x: (x, np.full(3, x[0])),
        recipes=_VECTOR,
        v1={"reference": raises("ValueError", "not compatible with the initial shape")},
    ),
)
