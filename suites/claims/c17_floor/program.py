"""floor, the detour x − (x − floor(x)), overrides, and the framework's numeric checks of each."""

import numpy as np


def plain_floor(tf, x):
    return tf.floor(x)


def detour(tf, x):
    fraction = x - tf.floor(x)
    return x - fraction


def overridden(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return tf.floor(x)


def passed_through(tf, x):
    return tf.grad_pass_through(tf.floor)(x)


def errors_in_session(tf, session, function, points):
    check = tf.compat.v1.test.compute_gradient_error
    with session():
        x = tf.compat.v1.placeholder(points.dtype, [1])
        y = function(tf, x)
        return np.array([check(x, [1], y, [1], x_init_value=points[i : i + 1]) for i in range(points.size)])


def check_floor(tf, session, points):
    return errors_in_session(tf, session, plain_floor, points)


def check_detour(tf, session, points):
    return errors_in_session(tf, session, detour, points)


def check_overridden(tf, session, points):
    return errors_in_session(tf, session, overridden, points)


def errors_eagerly(tf, function, points):
    errors = []
    for point in points:
        [theoretical], [numeric] = tf.test.compute_gradient(function, [tf.reshape(point, [1])])
        errors.append(np.max(np.abs(theoretical - numeric)))
    return tf.stack(errors)


def check_eagerly(tf, points):
    return (
        errors_eagerly(tf, tf.floor, points),
        errors_eagerly(tf, lambda x: detour(tf, x), points),
        errors_eagerly(tf, tf.grad_pass_through(tf.floor), points),
    )


def check_stand_in(tf, points):
    errors = []
    for point in points:
        x = [tf.reshape(point, [1])]
        [theoretical], _ = tf.test.compute_gradient(tf.grad_pass_through(tf.floor), x)
        _, [numeric] = tf.test.compute_gradient(tf.identity, x)
        errors.append(np.max(np.abs(theoretical - numeric)))
    return tf.stack(errors)
