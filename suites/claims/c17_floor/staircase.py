"""Functions like floor, the slopes of floor and of the saw, and the numeric check at random points."""

import numpy as np

from tf_opdiff.suites.claims.c17_floor.program import detour, overridden


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
