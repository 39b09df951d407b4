"""The logarithm where x is positive: replace the other inputs before the logarithm, not only its results after."""

import tensorflow as tf

x = tf.Variable([0.0, 1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    positive = x > 0
    as_in_the_post = tf.where(positive, tf.math.log(x), 0.0)
    safe = tf.where(positive, tf.math.log(tf.where(positive, x, 1.0)), 0.0)

print("one where: ", tape.gradient(as_in_the_post, x).numpy())
print("two wheres:", tape.gradient(safe, x).numpy())
# Prints:
# one where:  [nan 1.  0.5]
# two wheres: [0.  1.  0.5]
