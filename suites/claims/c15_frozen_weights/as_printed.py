"""The answer's program: weights of zeros under two masks, and AdamOptimizer(1e-5)."""

import numpy as np

from tf_opdiff.suites.claims.c15_frozen_weights.program import masked
from tf_opdiff.suites.claims.c15_frozen_weights.session_program import followed, in_turn, train_two

MASKS = [[0, 1, 1, 0]] * 3 + [[1, 0, 0, 1]] * 3


def masked_loss(tf, target):
    w = tf.compat.v1.get_variable("w", initializer=tf.zeros([4]))
    mask = tf.compat.v1.placeholder(tf.float32, [4])
    return w, mask, tf.reduce_sum(tf.square(masked(tf, w, mask) - target))


def trained(tf, s, w, mask, step):
    s.run(tf.compat.v1.global_variables_initializer())
    trajectory = [s.run(w)]
    for now in MASKS:
        s.run(step(), {mask: now})
        trajectory.append(s.run(w))
    return np.stack(trajectory[1:]), np.diff(trajectory, axis=0) != 0


def apply_in_the_loop(tf, session, target):
    with session() as s:
        w, mask, loss = masked_loss(tf, target)
        adam = tf.compat.v1.train.AdamOptimizer(1e-5)
        gradients = adam.compute_gradients(loss, w)
        return trained(tf, s, w, mask, lambda: adam.apply_gradients(gradients))


def apply_before_the_loop(tf, session, target):
    with session() as s:
        w, mask, loss = masked_loss(tf, target)
        adam = tf.compat.v1.train.AdamOptimizer(1e-5)
        train = adam.apply_gradients(adam.compute_gradients(loss, w))
        return trained(tf, s, w, mask, lambda: train)


def subset_applied(tf, session, first, second, x, y):
    def steps(loss, a, b):
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        gradients = adam.compute_gradients(loss, [a, b])
        return in_turn(adam.apply_gradients(gradients), adam.apply_gradients(gradients[:1]))

    return followed(*train_two(tf, session, steps, first, second, x, y))
