"""A while loop of TensorFlow 1, built of Enter, Merge, Switch, NextIteration and Exit."""


def power(tf, count, x, y):
    tf.compat.v1.disable_control_flow_v2()
    try:
        _, product = tf.compat.v1.while_loop(lambda i, _: i < count, lambda i, z: (i + 1, z * y), [0, x])
        return product
    finally:
        tf.compat.v1.enable_control_flow_v2()
