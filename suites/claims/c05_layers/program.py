"""Keras layers with a gradient of one's own, or none."""

from contextlib import suppress

from tf_opdiff.suites.reference.registered import registered


def layer_of(tf, function, x):
    layer = tf.keras.layers.Lambda(function, dtype=x.dtype.name)
    return layer(x)


def floor_layer(tf, x):
    return layer_of(tf, tf.floor, x)


def sign_layer(tf, x):
    return layer_of(tf, tf.sign, x)


def cube(x):
    return x * x * x


def skip_layer(tf, x):
    @tf.custom_gradient
    def skipped(x):
        return cube(x), lambda g: g

    return layer_of(tf, skipped, x)


def reversing_layer(tf, x):
    @tf.custom_gradient
    def reversed_and_doubled(x):
        return cube(x), lambda g: -2 * g

    return layer_of(tf, reversed_and_doubled, x)


def skip_by_stop_gradient(tf, x):
    def skipped(x):
        return x + tf.stop_gradient(cube(x) - x)

    return layer_of(tf, skipped, x)


def skip_by_py_func(tf, x):
    registered(tf, "SkipLayer", lambda op, g: g)

    def skipped(x):
        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "SkipLayer"}), tf.device("CPU:0"):
            y = tf.compat.v1.py_func(cube, [x], x.dtype)
        return tf.ensure_shape(y, x.shape)

    return layer_of(tf, skipped, x)


def skip_by_called_py_func(tf, x):
    @tf.function(autograph=False)
    def skipped(x):
        return skip_by_py_func(tf, x)

    return skipped(x)


def declare_not_differentiable(tf, op_type):
    with suppress(KeyError):  # this process has declared it before
        tf.no_gradient(op_type)


def undifferentiated_layer(tf, x):
    declare_not_differentiable(tf, "Snapshot")

    def copied(x):
        return tf.raw_ops.Snapshot(input=x)

    return layer_of(tf, copied, x)
