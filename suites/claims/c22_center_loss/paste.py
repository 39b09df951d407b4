"""Center loss: the line that moves the centers stands in the training step, so every step runs it."""

import tensorflow as tf

centers = tf.Variable(tf.zeros([2, 2]), trainable=False)
features = tf.Variable([[3.0, 3.0], [3.0, 3.0], [2.0, 2.0]])
labels = tf.constant([0, 0, 1])


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = 0.5 * tf.reduce_sum(tf.square(features - tf.gather(centers, labels)))
    features.assign_sub(0.5 * tape.gradient(loss, features))
    difference = tf.math.unsorted_segment_sum(tf.gather(centers, labels) - features, labels, 2)
    count = tf.math.bincount(labels, minlength=2, dtype=tf.float32)[:, tf.newaxis]
    centers.assign_sub(0.5 * difference / (1 + count))
    return loss


print("loss:", float(train_step()))
print("centers:", centers.numpy().tolist())
# Prints:
# loss: 22.0
# centers: [[0.5, 0.5], [0.25, 0.25]]
