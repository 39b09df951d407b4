"""Attention by a Bernoulli sample whose gradient flows, in every mode of execution."""

import tensorflow as tf


@tf.custom_gradient
def attend(p, features):
    sample = tf.cast(tf.random.uniform(tf.shape(p)) < p, features.dtype)
    return sample * features, lambda upstream: (upstream * features, upstream * sample)


p = tf.Variable([0.0, 1.0, 1.0])
features = tf.constant([2.0, 4.0, 8.0])
with tf.GradientTape() as tape:
    y = attend(p, features)

print("y:            ", y.numpy())
print("gradient of p:", tape.gradient(y, p).numpy())
# Prints:
# y:             [0. 4. 8.]
# gradient of p: [2. 4. 8.]
