"""The gradient by an input that only the branch not taken uses: asked for as zeros, it is a number in both modes."""

import tensorflow as tf

x, y, z = tf.constant(2.0), tf.constant(3.0), tf.constant(5.0)


def gradients(take_first, unconnected):
    with tf.GradientTape() as tape:
        tape.watch([y, z])
        product = tf.cond(take_first, lambda: x * y, lambda: x * z)
    return tape.gradient(product, [y, z], unconnected_gradients=unconnected)


def numbers(values):
    return [None if value is None else float(value) for value in values]


in_a_graph = tf.function(gradients)
print("eager:   ", numbers(gradients(tf.constant(True), "none")), numbers(gradients(tf.constant(True), "zero")))
print("function:", numbers(in_a_graph(tf.constant(True), "none")), numbers(in_a_graph(tf.constant(True), "zero")))
# Prints:
# eager:    [2.0, None] [2.0, 0.0]
# function: [2.0, 0.0] [2.0, 0.0]
