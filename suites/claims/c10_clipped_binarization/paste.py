"""Binarizing with a clipped gradient: the upstream where |x| is at most the scale, zero elsewhere."""

import tensorflow as tf


@tf.custom_gradient
def binarize(x):
    scale = tf.reduce_mean(tf.abs(x))
    return tf.sign(x) * scale, lambda upstream: tf.where(tf.abs(x) <= scale, upstream, 0.0)


x = tf.Variable([-1.0, 4.0, 1.0, -2.0])
with tf.GradientTape() as tape:
    y = binarize(x)

print("y:       ", y.numpy())
print("gradient:", tape.gradient(y, x).numpy())
# Prints:
# y:        [-2.  2.  2. -2.]
# gradient: [1. 0. 1. 1.]
