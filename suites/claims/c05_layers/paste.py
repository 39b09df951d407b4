"""A Keras layer that runs forward and is left out of the derivative."""

import tensorflow as tf


@tf.custom_gradient
def skipped(a):
    return tf.floor(a), lambda upstream: upstream


layer = tf.keras.layers.Lambda(skipped)
x = tf.Variable([[0.5, 1.5, 2.25]])
with tf.GradientTape() as tape:
    y = 3 * layer(x)

print("y:       ", y.numpy())
print("gradient:", tape.gradient(y, x).numpy())
# Prints:
# y:        [[0. 3. 6.]]
# gradient: [[3. 3. 3.]]
