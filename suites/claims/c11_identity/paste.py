"""A straight-through estimator, and an update that runs before the value is read, without tf.identity."""

import tensorflow as tf

x = tf.Variable([-2.0, 0.5])
with tf.GradientTape() as tape:
    y = x + tf.stop_gradient(tf.sign(x) - x)

print("y:       ", y.numpy())
print("gradient:", tape.gradient(y, x).numpy())

average = tf.Variable(0.0)


@tf.function
def loss_of(value):
    average.assign(0.5 * average + 0.5 * value)
    return value


for value in (8.0, 4.0):
    loss = loss_of(tf.constant(value))

print("loss:", loss.numpy(), "average:", average.numpy())
# Prints:
# y:        [-1.  1.]
# gradient: [1. 1.]
# loss: 4.0 average: 4.0
