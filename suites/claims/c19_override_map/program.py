"""Maps for Floor and for Identity around ops that they reach, and ops that they do not."""

import numpy as np

from tf_opdiff.suites.reference.registered import registered


def five_times(op, g):
    return 5.0 * g


# The map around Round has a control: it reaches the Floor that is made with it.
def map_of_floor(tf, x, control):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return x * tf.round(x), tf.floor(control)


def map_of_identity(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x, name="Identity")


def map_of_identity_unnamed(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x)


def map_of_identity_by_name(tf, x, control):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.negative(x, name="Identity"), tf.identity(control)


def map_left(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        inside = tf.identity(x)
    return inside, tf.identity(x)


def identity_five_times(tf, x):
    @tf.custom_gradient
    def identity(x):
        return tf.identity(x), lambda g: 5.0 * g

    return identity(x)


def map_around_a_mean(tf, some_vals, some_other_val, control):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return tf.reduce_mean(some_vals) * some_other_val, tf.floor(control)


def run_what_was_registered(tf, session, x):
    with session() as s:
        registered(tf, "CustomGrad", five_times)
        x = tf.constant(x)
        with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "CustomGrad"}):
            y = tf.identity(x)
        (gradient,) = s.run(tf.gradients(y, x))
        np.testing.assert_array_equal(gradient, np.full(x.shape, 5))  # a control: it is registered, and used
        op = s.graph.create_op("CustomGrad", [x], [x.dtype])
        return s.run(op.outputs[0])


def map_to_nothing(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "NeverRegistered"}):
        return tf.floor(x)


def map_inside(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return -tf.floor(x)


def pass_through_inside(tf, x):
    return -tf.grad_pass_through(tf.floor)(x)
