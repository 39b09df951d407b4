"""A convolution in float32 beside the same in float64: the difference is not 1e-7, and a tolerance allows for it."""

import numpy as np
import tensorflow as tf

random = np.random.RandomState(0)
images, kernel = random.uniform(-1, 1, (1, 16, 16, 64)), random.uniform(-1, 1, (4, 7, 64, 4))
exact = tf.keras.ops.conv(images, kernel, padding="same").numpy()
single = tf.keras.ops.conv(images.astype("f"), kernel.astype("f"), padding="same").numpy()
terms = tf.keras.ops.conv(abs(images), abs(kernel), padding="same").numpy()
count = 4 * 7 * 64
print("terms:", count)
print("equal to 1e-7:", bool(np.all(abs(single - exact) <= 1e-7 * abs(exact))))
print("equal to a tolerance for a sum:", bool(np.all(abs(single - exact) <= count * 2**-24 * terms)))
# Prints:
# terms: 1792
# equal to 1e-7: False
# equal to a tolerance for a sum: True
