"""tf.custom_gradient beyond the plain override: variables, keywords, sparse gradients, second order."""

from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.recipes.quarters import MATRIX, PAIR, WITH_INTEGERS
from tf_opdiff.suites.reference.control_flow.overrides import rows_vjp

CUSTOM_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/custom_gradient.py"


def _variable(tf, x, *_):
    return {"v": tf.Variable(x + x.dtype.type(1))}


def _custom_integer(tf, x, n):
    @tf.custom_gradient
    def f(x, n):
        return (tf.identity(x), n + 1), lambda g, _: (8 * g, None)

    return f(x, n)


def _custom_keyword(tf, x):
    @tf.custom_gradient
    def f(x, times=1):
        return times * x, lambda g: 8 * g

    return f(x, times=2)


def _custom_nested_variables(tf, state, x):
    @tf.custom_gradient
    def inner(x):
        return x * state["v"], lambda g, variables: (100 * g, [100 * g])

    @tf.custom_gradient
    def outer(x):
        return inner(x), lambda g, variables: (-2 * g, [8 * g])

    return outer(x)


def _custom_none(tf, x, z):
    @tf.custom_gradient
    def f(x, z):
        return x + z, lambda g: (None, 8 * g)

    return f(x, z)


def _custom_second_order(tf, x):
    @tf.custom_gradient
    def first(g, x):
        return g * x, lambda gg: (100 * gg, -2 * gg)

    @tf.custom_gradient
    def f(x):
        return tf.floor(x), lambda g: first(g, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _custom_sparse(tf, x):
    @tf.custom_gradient
    def f(x):
        return tf.identity(x), lambda g: tf.IndexedSlices(
            tf.gather(g, [2, 0]), tf.constant([2, 0]), tf.constant([3, 5])
        )

    return f(x)


def _custom_variables(tf, state, x):
    @tf.custom_gradient
    def f(x):
        return x * state["v"], lambda g, variables: (-2 * g, [8 * g for _ in variables])

    return f(x)


def _custom_variables_refused(tf, state, x):
    return tf.custom_gradient(lambda x: (x * state["v"], lambda g: g))(x)


KEYWORD = Side(
    reference=lambda x: 2 * x,
    vjp=lambda g, x: 8 * g,
    why="The decorator takes keyword arguments when eager execution is enabled.",
    link=CUSTOM_LINK,
)

Same = partial(Spec, recipes=MATRIX, ops="Identity")


SPECS = (
    Same(
        name="custom-gradient-integer",
        program=_custom_integer,
        reference=lambda x, n: (x, n + 1),
        vjp=lambda g, x, n: (8 * g[0], None),
        recipes=WITH_INTEGERS,
    ),
    Same(
        name="custom-gradient-keyword",
        program=_custom_keyword,
        reference=lambda x: Raises("ValueError", "keywords arguments only when eager"),
        ops="Mul",
        contract={"*/eager": KEYWORD},
    ),
    Same(
        name="custom-gradient-nested-variables",
        program=_custom_nested_variables,
        reference=lambda x: x * (x + 1),
        vjp=lambda g, x: (-2 * g, 8 * g),
        state=_variable,
        ops="Mul",
    ),
    Same(
        name="custom-gradient-none",
        program=_custom_none,
        reference=lambda x, z: x + z,
        vjp=lambda g, x, z: (None, 8 * g),
        recipes=PAIR,
        ops="AddV2",
    ),
    Same(
        name="custom-gradient-second-order",
        program=_custom_second_order,
        reference=lambda x: x,
        vjp=lambda g, x: -2 * g,
        dtypes=FLOATS,
        ops="Floor;Mul",
    ),
    Same(name="custom-gradient-sparse", program=_custom_sparse, reference=lambda x: x, vjp=rows_vjp),
    Same(
        name="custom-gradient-variables",
        program=_custom_variables,
        reference=lambda x: x * (x + 1),
        vjp=lambda g, x: (-2 * g, 8 * g),
        state=_variable,
        ulp={"output": 0.5},
        dtypes=(*FLOATS, *COMPLEX),
        ops="Mul",
    ),
    Same(
        name="custom-gradient-variables-refused",
        program=_custom_variables_refused,
        reference=lambda x: Raises("TypeError", "must accept keyword argument 'variables'"),
        state=_variable,
    ),
)
