"""Select and SelectV2, and the gradient of Select as the answer prints it."""

from tf_opdiff.suites.reference.registered import registered


def select(tf, c, x, y):
    return tf.compat.v1.where(c, x, y)


def printed_gradient(tf):
    def _SelectGrad(op, grad):  # noqa: N802
        c = op.inputs[0]
        x = op.inputs[1]
        zeros = tf.zeros_like(x)
        return (None, tf.where(c, grad, zeros), tf.where(c, zeros, grad))

    return _SelectGrad


def select_v2_with_printed_gradient(tf, c, x, y):
    name = registered(tf, "SelectGradAsPrinted", printed_gradient(tf))

    @tf.function(autograph=False)
    def selected(c, x, y):
        with tf.compat.v1.get_default_graph().gradient_override_map({"SelectV2": name}):
            return tf.where(c, x, y)

    return selected(c, x, y)


def select_v2(tf, c, x, y):
    return tf.where(c, x, y)
