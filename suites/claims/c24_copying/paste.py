"""Copies of a variable are independent; only a second name for the same variable is a reference."""

import tensorflow as tf

original = tf.Variable([1.0, 2.0])
assigned = tf.Variable(tf.zeros(2))
assigned.assign(original)
new = tf.Variable(original)
same = original
original.assign_add([10.0, 10.0])
print("original:", original.numpy())
print("assigned:", assigned.numpy(), "new:", new.numpy(), "same:", same.numpy())
# Prints:
# original: [11. 12.]
# assigned: [1. 2.] new: [1. 2.] same: [11. 12.]
