"""Selections by `tf.where`, safe and unsafe."""


def select(tf, c, x, y):
    return tf.where(c, x, y)


def log_where_positive(tf, x):
    return tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))


def sqrt_where_positive(tf, x):
    return tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))


def log_of_safe(tf, x):
    safe = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.math.log(safe), tf.zeros_like(x))


def sqrt_of_safe(tf, x):
    safe = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.sqrt(safe), tf.zeros_like(x))
