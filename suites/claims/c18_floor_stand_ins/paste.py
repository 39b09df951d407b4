"""A ramp of slope k as a stand-in for the step: closer to it as k grows, and flat beyond it."""

import tensorflow as tf

x = tf.Variable([-0.25, 0.0625, 0.25])
print("step: ", tf.cast(x >= 0, tf.float32).numpy())
for k in (1.0, 4.0):
    with tf.GradientTape() as tape:
        ramp = tf.clip_by_value(k * x + 0.5, 0.0, 1.0)
    print("k =", k, "value:", ramp.numpy().tolist(), "gradient:", tape.gradient(ramp, x).numpy().tolist())

# Prints:
# step:  [0. 1. 1.]
# k = 1.0 value: [0.25, 0.5625, 0.75] gradient: [1.0, 1.0, 1.0]
# k = 4.0 value: [0.0, 0.75, 1.0] gradient: [0.0, 4.0, 0.0]
