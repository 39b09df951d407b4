"""An addition with a gradient of its own: the gradient function gets the upstream of the sum and hands it on."""

import tensorflow as tf


@tf.custom_gradient
def add(c, k):
    return c + k, lambda upstream: (upstream, upstream)


x = tf.constant([1.0, 2.0])
c, k = tf.Variable([3.0, 4.0]), tf.Variable([5.0, 6.0])
with tf.GradientTape(persistent=True) as tape:
    d = x + c
    plain = tf.reduce_sum(d * (c + k))
    custom = tf.reduce_sum(d * add(c, k))

print("plain: ", *(g.numpy() for g in tape.gradient(plain, [c, k])))
print("custom:", *(g.numpy() for g in tape.gradient(custom, [c, k])))
# Prints:
# plain:  [12. 16.] [4. 6.]
# custom: [12. 16.] [4. 6.]
