"""Relative differences of volumes by broadcasting: no assignments, so the gradient goes through."""

import tensorflow as tf


def difference(prod, box):
    volumes = tf.reduce_prod(prod, axis=0)[:, tf.newaxis]
    room = tf.reduce_prod(box, axis=0)[tf.newaxis, :]
    return (room - volumes) / room


prod = tf.Variable([[1, 2, 1], [1, 1, 2], [2, 1, 2]], dtype=tf.float16)
box = tf.Variable([[2, 4], [2, 2], [2, 1]], dtype=tf.float16)
with tf.GradientTape() as tape:
    result = difference(prod, box)

print(result.numpy())
print(tape.gradient(result, prod).numpy())
# Prints:
# [[0.75 0.75]
#  [0.75 0.75]
#  [0.5  0.5 ]]
# [[-0.5  -0.25 -1.  ]
#  [-0.5  -0.5  -0.5 ]
#  [-0.25 -0.5  -0.5 ]]
