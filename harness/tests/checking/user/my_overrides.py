"""A user's module: gradient overrides by each mechanism, with planted faults. A test copies it to another folder."""

import numpy as np
import tensorflow as tf


def rule(g, x):
    """The gradient that the overrides of floor give: not linear, so that its derivatives are made of differences."""
    return -3 * x**2 * g


@tf.RegisterGradient("MyFloor")
def registered(op, g):
    return rule(g, op.inputs[0])


def plain(x):
    return tf.floor(x)


def by_map(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "MyFloor"}):
        return tf.floor(x)


@tf.custom_gradient
def by_custom_gradient(x):
    return tf.floor(x), lambda g: rule(g, x)


def by_py_func(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "MyFloor"}):
        y = tf.compat.v1.py_func(np.floor, [x], x.dtype)
    return tf.ensure_shape(y, x.shape)


def by_stop_gradient(x):
    smooth = -(x**3)
    return smooth + tf.stop_gradient(tf.floor(x) - smooth)


def by_recompute_grad(x):
    return tf.recompute_grad(by_custom_gradient)(x)


def by_keras_layer(x):
    return tf.keras.layers.Lambda(by_custom_gradient)(x)


@tf.custom_gradient
def with_another_factor(x):
    return tf.floor(x), lambda g: -2 * x**2 * g


@tf.custom_gradient
def wrong_in_one_element(x):
    first = tf.one_hot(0, 5)
    return tf.floor(x), lambda g: rule(g, x) * (1 + first / 1024)


def chosen(x, y, c):
    return tf.where(c, x, y)


@tf.custom_gradient
def chosen_by_custom_gradient(x, y, c):
    return tf.where(c, x, y), lambda g: (y * y * g, x * g, None)


def rule_of_chosen(g, x, y, c):
    return y * y * g, x * g, None


@tf.custom_gradient
def with_reversed_gradient(x):
    return tf.floor(x), lambda g: tf.reverse(g * x**3, [0])


def rule_of_reversed(g, x):
    return (g * x**3)[::-1]


class Scaled(tf.Module):
    """A callable that holds a variable, which a v1 graph can't use."""

    def __init__(self):
        self.factor = tf.Variable(1.0)

    def __call__(self, x):
        return self.factor * by_custom_gradient(x)


scaled = Scaled()


def two_outputs(x):
    return x, x


def shorter(x):
    return by_custom_gradient(x)[1:]


def broken(x):
    return x.nothing


def rule_with_tensorflow(g, x):
    return tf.negative(g)


def rule_of_zeros(g, x):
    return 0 * g


def rule_too_short(g, x):
    return (g * x)[1:]


def rule_of_two(g, x):
    return g, g
