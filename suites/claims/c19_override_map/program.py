"""Maps for Floor and for Identity around ops that they reach, and ops that they do not."""

from tf_opdiff.suites.reference.registered import registered


def five_times(op, g):
    return 5.0 * g


def map_of_floor(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return x * tf.round(x)


def map_of_identity(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x, name="Identity")


def map_of_identity_unnamed(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x)


def map_of_identity_by_name(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.negative(x, name="Identity")


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
