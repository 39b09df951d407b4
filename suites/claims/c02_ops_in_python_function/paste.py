"""TensorFlow ops inside a Python function: tf.py_function runs them eagerly, and the gradient goes through them."""

import tensorflow as tf


def square(array):
    return tf.square(array)


@tf.function
def squared(x):
    return tf.py_function(square, [x], tf.float32)


x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = squared(x)

print("y:       ", y.numpy())
print("gradient:", tape.gradient(y, x).numpy())
# Prints:
# y:        [1. 4. 9.]
# gradient: [2. 4. 6.]
