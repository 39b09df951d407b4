"""The Keras layer moves its averages as it is called in training; no collection of updates is needed."""

import tensorflow as tf

layer = tf.keras.layers.BatchNormalization(momentum=0.5)


@tf.function
def train_step(x):
    return layer(x, training=True)


for _ in range(2):
    train_step(tf.constant([[1.0], [5.0]]))

print("moving mean:    ", layer.moving_mean.numpy())
print("moving variance:", layer.moving_variance.numpy())
# Prints:
# moving mean:     [2.25]
# moving variance: [3.25]
