"""tf.stop_gradient stops one of two paths; with every path stopped, ask for zeros or get None."""

import tensorflow as tf

x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    one_path = x * tf.stop_gradient(x)
    no_path = tf.stop_gradient(x * x)

print("y:          ", one_path.numpy())
print("one path:   ", tape.gradient(one_path, x).numpy())
print("no path:    ", tape.gradient(no_path, x))
print("as a number:", tape.gradient(no_path, x, unconnected_gradients="zero").numpy())
# Prints:
# y:           [1. 4. 9.]
# one path:    [1. 2. 3.]
# no path:     None
# as a number: [0. 0. 0.]
