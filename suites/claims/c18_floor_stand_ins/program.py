"""Piecewise linear, sigmoid and filtered relaxations of floor and step."""


def sharpness(tf, x):
    return tf.constant([[1.0], [2.0], [4.0], [8.0]], x.dtype)


def sigmoid_step(tf, x):
    return tf.sigmoid(sharpness(tf, x) * x)


def linear_step(tf, x):
    return tf.clip_by_value(sharpness(tf, x) * x + 0.5, 0.0, 1.0)


def filtered_step(tf, x):
    return 0.5 * (1.0 + tf.math.erf(sharpness(tf, x) * x))


def sigmoid_floor(tf, x):
    return tf.add_n([tf.sigmoid(sharpness(tf, x) * (x - n)) for n in range(1, 6)])


def linear_floor(tf, x):
    nearest = tf.floor(x + 0.5)
    return nearest - 1.0 + tf.clip_by_value(sharpness(tf, x) * (x - nearest) + 0.5, 0.0, 1.0)


def filtered_floor(tf, x):
    width = 1.0 / sharpness(tf, x)
    return (integral_of_floor(tf, x + width / 2.0) - integral_of_floor(tf, x - width / 2.0)) / width


def integral_of_floor(tf, x):
    n = tf.floor(x)
    return n * x - n * (n + 1.0) / 2.0


def largest_error(tf, x, smooth, sharp):
    away = tf.abs(x - tf.floor(x + 0.5)) >= 0.125
    return tf.reduce_max(tf.where(away, tf.abs(smooth - sharp), tf.zeros_like(x)), axis=1)


def sigmoid_step_error(tf, x):
    return largest_error(tf, x, sigmoid_step(tf, x), tf.cast(x >= 0, x.dtype))


def linear_step_error(tf, x):
    return largest_error(tf, x, linear_step(tf, x), tf.cast(x >= 0, x.dtype))


def filtered_step_error(tf, x):
    return largest_error(tf, x, filtered_step(tf, x), tf.cast(x >= 0, x.dtype))


def sigmoid_floor_error(tf, x):
    return largest_error(tf, x, sigmoid_floor(tf, x), tf.floor(x))


def linear_floor_error(tf, x):
    return largest_error(tf, x, linear_floor(tf, x), tf.floor(x))


def filtered_floor_error(tf, x):
    return largest_error(tf, x, filtered_floor(tf, x), tf.floor(x))
