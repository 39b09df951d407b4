"""Functions like floor, the slopes of floor and of the saw, and the numeric check at random points."""

import numpy as np

from tf_opdiff.suites.claims.c17_floor.program import detour, errors_in_session, overridden
from tf_opdiff.suites.reference.registered import registered


def ceil(tf, x):
    return tf.math.ceil(x)


def cast_and_back(tf, x):
    return tf.cast(tf.cast(x, tf.int32), x.dtype)


def saw(tf, x):
    return x - tf.floor(x)


def slopes(tf, x):
    step = 2.0**-10
    before, after = x - step, x + step
    of_floor = (tf.floor(after) - tf.floor(before)) / (2 * step)
    of_saw = (saw(tf, after) - saw(tf, before)) / (2 * step)
    return of_floor, of_saw


def errors_at_random(tf, session, function, seeds):
    with session():
        x = tf.compat.v1.placeholder(tf.float32, [350])
        y = function(tf, x)
        errors = []
        for seed in seeds:
            np.random.seed(seed)
            errors.append(tf.compat.v1.test.compute_gradient_error(x, [350], y, [350]))
        return np.array(errors)


def check_detour_at_random(tf, session, seeds):
    return errors_at_random(tf, session, detour, seeds)


def check_overridden_at_random(tf, session, seeds):
    return errors_at_random(tf, session, overridden, seeds)


# As the answer has it: py_func with a list of dtypes returns a list, and so does CustomFloor.
def floor_gradient(op, grad):
    return grad


def custom_floor(tf, x):
    registered(tf, "CustomFloorGrad", floor_gradient)
    gradient_map = {"PyFunc": "CustomFloorGrad"}
    with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map), tf.device("CPU:0"):
        return tf.compat.v1.py_func(np.floor, [x], [x.dtype])


def check_custom_floor(tf, session, points):
    return errors_in_session(tf, session, custom_floor, points)


def first_of_custom_floor(tf, x):
    return tf.ensure_shape(custom_floor(tf, x)[0], x.shape)


def check_first_of_custom_floor(tf, session, points):
    return errors_in_session(tf, session, first_of_custom_floor, points)
