"""A tf.function runs in the order of its lines: the update, then the read."""

import tensorflow as tf

x = tf.Variable(0.0)


@tf.function
def step():
    x.assign_add(1.0)
    return x.read_value()


print([float(step()) for _ in range(5)])
# Prints:
# [1.0, 2.0, 3.0, 4.0, 5.0]
