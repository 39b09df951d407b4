"""Which paths a gradient takes: past `stop_gradient` (C04), through a selection (C12) and a conditional (C13)."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, SIZE, plain
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics

WIDE = ("float32", "float64")


# C04.
def two_paths(tf, x):
    h = tf.square(x)
    return h * tf.stop_gradient(h)


def stopped_path(tf, x):
    h = tf.square(x)
    return tf.stop_gradient(h)


def step_by_zeros(tf, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = stopped_path(tf, x)
    gradient = tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return x - gradient


# C12.
def select(tf, c, x, y):
    return tf.where(c, x, y)


def log_where_positive(tf, x):
    return tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))


def sqrt_where_positive(tf, x):
    return tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))


def log_of_safe(tf, x):
    safe = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.math.log(safe), tf.zeros_like(x))


def sqrt_of_safe(tf, x):
    safe = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.sqrt(safe), tf.zeros_like(x))


def _mixed(draw, dtype):
    return draw.booleans(SIZE), *(draw.values(dtype, SIZE) for _ in range(2))


def _nasty(draw, dtype):
    """NaN and infinities on either side, chosen and not chosen."""
    c, bad = draw.booleans(SIZE), np.array([np.nan, np.inf, -np.inf])
    x, y = draw.values(dtype, SIZE), draw.values(dtype, SIZE)
    x[::2], y[::3] = np.resize(bad, x[::2].size), np.resize(bad, y[::3].size)
    return c, x, y


def _around_zero(draw, dtype):
    """Powers of four of either sign, whose roots and reciprocals are exact, and zeros of either sign."""
    x = 4.0 ** draw.integers(SIZE, low=-3, high=4) * np.where(draw.booleans(SIZE), 1, -1)
    x[[3, 11, 20, 33, 40]] = 0.0, -0.0, 0.0, -0.0, 0.0
    return (x.astype(dtype),)


def _split(g, c, x, y):
    return None, np.where(c, g, 0), np.where(c, 0, g)


def _kept(function):
    """where(x > 0, function(x), 0)."""
    return lambda x: np.where(x > 0, function(x), 0)


def _through_log(g, x):
    """Zeros go into log's gradient where x is not chosen: 0 · (1/x)."""
    return np.where(x > 0, g, 0) * (1 / x)


def _through_sqrt(g, x):
    return np.where(x > 0, g, 0) * 0.5 / np.sqrt(x)


def _spared(vjp):
    """The gradient with nothing but zeros where x is not chosen."""
    return lambda g, x: np.where(x > 0, vjp(g, x), 0)


# C13.
def conditional(tf, p, x, y, z):
    return tf.cond(p, lambda: x * y, lambda: x * z)


def conditional_v1(tf, p, x, y, z):
    tf.compat.v1.disable_control_flow_v2()
    try:
        return tf.compat.v1.cond(p, lambda: x * y, lambda: x * z)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def switched(tf, p, x, y, z):
    x_false, x_true = tf.raw_ops.Switch(data=x, pred=p)
    _, y_true = tf.raw_ops.Switch(data=y, pred=p)
    z_false, _ = tf.raw_ops.Switch(data=z, pred=p)
    return tf.raw_ops.Merge(inputs=[x_false * z_false, x_true * y_true]).output


def inside_branch(tf, p, x):
    x_false, x_true = tf.raw_ops.Switch(data=x, pred=p)
    y = tf.raw_ops.Merge(inputs=[x_false * x_false, x_true * 4.0]).output
    return tf.gradients(y, x_false)[0]


def _either(draw, dtype, p):
    return np.array(p), *(draw.values(dtype, 9) for _ in range(3))


EITHER = {
    "false": lambda draw, dtype: _either(draw, dtype, False),
    "true": lambda draw, dtype: _either(draw, dtype, True),
}


def _branch(g, p, x, y, z):
    """The VJP of the branch that was taken; zeros to what only the other one uses."""
    dead = np.zeros_like(x)
    return (None, g * y, g * x, dead) if p else (None, g * z, dead, g * x)


def _branch_alone(g, p, x, y, z):
    """The same, with nothing for the other branch."""
    return (None, g * y, g * x, None) if p else (None, g * z, None, g * x)


ONE_TAPE = "an eager cond runs one branch, and only that is on the tape"
ZEROS = "the graph holds both branches: zeros come out of the one not taken, and they are a value"
MERGED = "the gradient of a Switch merges zeros for the side that is dead, so that outside a value always arrives"
_ROUNDED = {"output": 0.5, "grad": 0.5}  # one multiplication each
_KERNEL = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/cwise_ops_gradients.h"
_SPARED_ZERO = "the kernel of SqrtGrad answers a zero upstream with zero, whatever the root is"
_LEAKS = "the branch not chosen is differentiated too: where sends it zeros, and 0 · (1/0) is NaN"
_LOG: dict[str, Any] = {"output": 1, "grad": {"float32": 2.5}}  # as for where-dead-log in suites/select.py
_SWITCHED: dict[str, Any] = {
    "reference": lambda p, x, y, z: x * (y if p else z),
    "vjp": _branch,
    "ulp": _ROUNDED,
    "recipes": EITHER,
    "ops": "Switch;Merge",
    "dtypes": WIDE,
    "modes": ("graph",),  # elsewhere cond is an If, or runs one branch, and XLA knows no Switch
}

SPECS = (
    Spec(
        name="claim-c04-two-paths",
        program=two_paths,
        reference=lambda x: x**4,
        vjp=lambda g, x: g * 2 * x**3,
        ulp={"output": 2.5, "grad": 2.5},  # 3 roundings each, of which the last is half an ULP, one before it a whole
        recipes={"plain": plain},
        ops="Square;Mul;StopGradient",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C04,
                letter="a",
                says="stop_gradient leaves the forward pass as it is.",
                about=("output",),
            ),
            Claim(
                topic=topics.C04,
                letter="b",
                says="stop_gradient stops only the path that goes through it.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c04-stopped-path",
        program=stopped_path,
        reference=np.square,
        vjp=lambda g, x: None,
        ulp={"output": 0.5},
        recipes={"plain": plain},
        ops="Square;StopGradient",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C04,
                letter="c",
                says="Where every path is stopped, the gradient is zeros.",
                about=("grad",),
                vjp=lambda g, x: np.zeros_like(x),
                refuted={"*/*": "no path is left, so it is None: zeros are to be asked for as unconnected_gradients"},
                instead="claim-c04-stopped-path-zeros",
            ),
        ),
    ),
    Spec(
        name="claim-c04-stopped-path-zeros",
        program=step_by_zeros,
        reference=lambda x: x,
        recipes={"plain": plain},
        ops="Sub;StopGradient",
        evidence="called:GradientTape",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c12-where",
        program=select,
        reference=np.where,
        vjp=_split,
        recipes={"mixed": _mixed},
        ops="SelectV2",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C12,
                letter="a",
                says="The upstream goes to the side that was chosen, and zeros go to the other.",
                about=("grad[1]", "grad[2]"),
            ),
            Claim(
                topic=topics.C12,
                letter="b",
                says="The condition has no gradient: it is None.",
                about=("grad[0]",),
            ),
        ),
    ),
    Spec(
        name="claim-c12-where-values",
        program=select,
        reference=np.where,
        vjp=_split,
        recipes={"nasty": _nasty},
        ops="SelectV2",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C12,
                letter="c",
                says="The values of the two sides are not used: NaN and infinities in them do not reach the gradient.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c12-log-where-positive",
        program=log_where_positive,
        reference=_kept(np.log),
        vjp=_through_log,
        ulp=_LOG,
        recipes={"around_zero": _around_zero},
        ops="SelectV2;Log",
        dtypes=WIDE,
        claims=(
            Claim(
                topic=topics.C12,
                letter="d",
                says="where(x > 0, log(x), 0) keeps the gradient free of what log does at 0.",
                about=("grad",),
                vjp=_spared(lambda g, x: g * (1 / x)),
                refuted={"*/*": _LEAKS},
                instead="claim-c12-log-of-safe",
            ),
        ),
    ),
    Spec(
        name="claim-c12-log-of-safe",
        program=log_of_safe,
        reference=_kept(np.log),
        vjp=_spared(lambda g, x: g * (1 / x)),
        ulp=_LOG,
        recipes={"around_zero": _around_zero},
        ops="SelectV2;Log",
        dtypes=WIDE,
    ),
    Spec(
        name="claim-c12-sqrt-where-positive",
        program=sqrt_where_positive,
        reference=_kept(np.sqrt),
        vjp=_spared(_through_sqrt),
        recipes={"around_zero": _around_zero},
        ops="SelectV2;Sqrt",
        dtypes=WIDE,
        contract={
            "*/xla": Side(
                reference=_kept(np.sqrt),
                vjp=_through_sqrt,
                why="XLA composes the gradient of sqrt of multiplications and divisions: 0 · (0.5/0) is NaN",
                link="https://github.com/tensorflow/tensorflow/issues/118674",
            )
        },
        claims=(
            Claim(
                topic=topics.C12,
                letter="e",
                says="where(x > 0, sqrt(x), 0) keeps the gradient free of what sqrt does at 0 and below.",
                about=("grad",),
                refuted={"*/xla": "XLA divides by the root: 0 · (0.5/0) is NaN; the kernel answers 0 with 0"},
                instead="claim-c12-sqrt-of-safe",
            ),
        ),
    ),
    Spec(
        name="claim-c12-sqrt-of-safe",
        program=sqrt_of_safe,
        reference=_kept(np.sqrt),
        vjp=_spared(_through_sqrt),
        recipes={"around_zero": _around_zero},
        ops="SelectV2;Sqrt",
        dtypes=WIDE,
    ),
    Spec(
        name="claim-c13-cond",
        program=conditional,
        reference=lambda p, x, y, z: x * (y if p else z),
        vjp=_branch,
        ulp=_ROUNDED,
        recipes=EITHER,
        ops={"eager": "Mul", "function": "StatelessIf", "xla": "StatelessIf", "graph": "StatelessIf"},
        evidence="called:cond",
        dtypes=WIDE,
        contract={"*/eager": Side(reference=lambda p, x, y, z: x * (y if p else z), vjp=_branch_alone, why=ONE_TAPE)},
        claims=(
            Claim(
                topic=topics.C13,
                letter="a",
                says="What only the branch not taken uses has a gradient that is switched off, not a value.",
                about=("grad[2]", "grad[3]"),
                vjp=_branch_alone,
                refuted=dict.fromkeys(("*/function", "*/xla", "*/graph"), ZEROS),
            ),
        ),
    ),
    Spec(
        name="claim-c13-cond-v1",
        evidence="called:compat.v1.cond",
        program=conditional_v1,
        claims=(
            Claim(
                topic=topics.C13,
                letter="b",
                says="With Switch and Merge, what only the branch not taken uses has a gradient that is switched off.",
                about=("grad[2]", "grad[3]"),
                vjp=_branch_alone,
                refuted={"*/graph": MERGED},
            ),
        ),
        **_SWITCHED,
    ),
    Spec(
        name="claim-c13-switch-merge",
        program=switched,
        claims=(
            Claim(
                topic=topics.C13,
                letter="c",
                says="With Switch and Merge by hand, it is switched off as well.",
                about=("grad[2]", "grad[3]"),
                vjp=_branch_alone,
                refuted={"*/graph": MERGED},
            ),
        ),
        **_SWITCHED,
    ),
    Spec(
        name="claim-c13-inside-branch",
        program=inside_branch,
        reference=lambda p, x: Raises("INVALID_ARGUMENT", "Retval[0] does not have value") if p else 2 * x,
        recipes={
            "false": lambda draw, dtype: _either(draw, dtype, False)[:2],
            "true": lambda draw, dtype: _either(draw, dtype, True)[:2],
        },
        ops="Switch;Merge",
        evidence="called:gradients",
        dtypes=WIDE,
        modes=("graph",),
        claims=(
            Claim(
                topic=topics.C13,
                letter="d",
                says="Inside the branch not taken, the gradient is switched off: there is no value to fetch.",
                about=("output",),
            ),
        ),
    ),
)
