"""Functions of Keras that round once for each element, and sums of many products."""


def sqrt(tf, x):
    return tf.keras.ops.sqrt(x)


def conv(tf, images, kernel):
    return tf.keras.ops.conv(images, kernel, padding="same", dilation_rate=(3, 2))


def conv_in_float64(tf, images, kernel):
    images, kernel = tf.cast(images, tf.float64), tf.cast(kernel, tf.float64)
    return tf.cast(tf.keras.ops.conv(images, kernel, padding="same", dilation_rate=(3, 2)), tf.float32)


def matmul(tf, a, b):
    return tf.keras.ops.matmul(a, b)
