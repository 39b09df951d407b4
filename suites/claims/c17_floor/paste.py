"""floor forward, the upstream backward, in every mode of execution."""

import tensorflow as tf

x = tf.Variable([-0.5, 0.5, 1.5])
with tf.GradientTape(persistent=True) as tape:
    floor = tf.floor(x)
    passed_through = tf.grad_pass_through(tf.floor)(x)

print("floor:           ", floor.numpy(), tape.gradient(floor, x))
print("grad_pass_through:", passed_through.numpy(), tape.gradient(passed_through, x).numpy())
# Prints:
# floor:            [-1.  0.  1.] None
# grad_pass_through: [-1.  0.  1.] [1. 1. 1.]
