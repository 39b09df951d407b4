"""The Hessian itself, and its product with a direction, from a tape inside a tape: no shifted point is needed."""

import tensorflow as tf

a = tf.Variable([1.0, 2.0])
direction = tf.constant([1.0, -1.0])
with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        b = tf.reduce_sum(a * a * a)
    gradient = inner.gradient(b, a)

print("gradient:", gradient.numpy())
print("Hessian: ", outer.jacobian(gradient, a).numpy().tolist())
print("Hessian times direction:", outer.gradient(gradient, a, output_gradients=direction).numpy())
# Prints:
# gradient: [ 3. 12.]
# Hessian:  [[6.0, 0.0], [0.0, 12.0]]
# Hessian times direction: [  6. -12.]
