"""Mechanisms: the ways to put a gradient in place of an op's own.

A mechanism is mechanism(tf, override, update, *inputs) → the result of the op. `update()` gives the control
dependencies under which the op is made.
"""

from pathlib import Path

from tf_opdiff.suites.forms.programs.compiled_library import built
from tf_opdiff.suites.reference.registered import registered

SOURCE = Path(__file__).with_name("overridden.cc")


def forward(tf, override, update, *inputs):
    """The op alone, with the gradient that it has by itself: no override."""
    with tf.control_dependencies(update()):
        return override.forward(tf, *inputs)


def with_rule(tf, override, call, *inputs):
    """The result of `call(*inputs)`, with the rule as its gradient, by `tf.custom_gradient`."""
    others = inputs[override.floats :]

    @tf.custom_gradient
    def ruled(*floats):
        return call(*floats, *others), lambda g: override.rule(g, *floats)

    return ruled(*inputs[: override.floats])


def registered_rule(tf, override, name):
    """The name under which the rule is registered as the gradient of an op that takes the inputs in their order.

    The condition of a cond comes first there. Inputs without a gradient have None.
    """

    def gradient(op, g):
        floats = [x for x in op.inputs if x.dtype.is_floating][: override.floats]
        rules = iter(override.rule(g, *floats))
        return [next(rules) if x.dtype.is_floating else None for x in op.inputs]

    return registered(tf, name, gradient)


def by_map(tf, override, update, *inputs):
    """`gradient_override_map` around the op."""
    name = registered_rule(tf, override, f"Matrix{override.op}")
    with tf.compat.v1.get_default_graph().gradient_override_map({override.op: name}):
        return forward(tf, override, update, *inputs)


def by_custom_gradient(tf, override, update, *inputs):
    """`tf.custom_gradient` around the op."""
    return with_rule(tf, override, lambda *xs: forward(tf, override, update, *xs), *inputs)


def by_py_func(tf, override, update, *inputs):
    """The forward pass in NumPy, by `tf.compat.v1.py_func`, under a map from PyFunc to the registered rule."""
    name = registered_rule(tf, override, f"MatrixPyFuncOf{override.op}")
    with (
        tf.control_dependencies(update()),
        tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}),
    ):
        y = tf.compat.v1.py_func(override.numpy, list(inputs), inputs[0].dtype)
    return tf.ensure_shape(y, inputs[0].shape)


def by_stop_gradient(tf, override, update, *inputs):
    """A function that has the gradient, plus what it lacks of the op behind `tf.stop_gradient`."""
    differentiable = override.potential(*inputs[: override.floats])
    return differentiable + tf.stop_gradient(forward(tf, override, update, *inputs) - differentiable)


def by_recompute_grad(tf, override, update, *inputs):
    """`tf.recompute_grad` around `tf.custom_gradient` around the op."""
    others = inputs[override.floats :]

    def recomputed(*floats):
        return by_custom_gradient(tf, override, update, *floats, *others)

    return tf.recompute_grad(recomputed)(*inputs[: override.floats])


def by_keras_layer(tf, override, update, *inputs):
    """A Keras layer whose function has `tf.custom_gradient`."""
    others = inputs[override.floats :]

    def call(floats):
        return by_custom_gradient(tf, override, update, *floats, *others)

    return tf.keras.layers.Lambda(call, dtype="float32")(list(inputs[: override.floats]))


def by_compiled_op(tf, override, update, *inputs):
    """An op in C++ with the same forward pass, and the rule registered as its gradient."""
    library = tf.load_op_library(built(tf, SOURCE))
    registered_rule(tf, override, "".join(map(str.capitalize, override.compiled.split("_"))))
    with tf.control_dependencies(update()):
        return getattr(library, override.compiled)(*inputs)
