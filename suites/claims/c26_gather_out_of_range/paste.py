"""gather with indices out of range: the same result on every device, because the program checks them itself."""

import tensorflow as tf


def gather_or_zero(params, indices):
    inside = (indices >= 0) & (indices < params.shape[0])
    return tf.where(inside, tf.gather(params, tf.where(inside, indices, 0)), 0)


params, indices = tf.constant([1, 2, 3, 4, 5]), tf.constant([0, 1, 6])
print("eager:", gather_or_zero(params, indices).numpy())
print("xla:  ", tf.function(gather_or_zero, jit_compile=True)(params, indices).numpy())
# Prints:
# eager: [1 2 0]
# xla:   [1 2 0]
