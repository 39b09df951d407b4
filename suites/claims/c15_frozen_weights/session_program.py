"""Masked weights trained by the optimisers of `tf.compat.v1.train`, in sessions of a v1 graph."""

import numpy as np

from tf_opdiff.suites.claims.c15_frozen_weights.program import error, masked


def train_in_session(tf, session, optimizer, weights, masks, x, y, zeroed=()):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        train = optimizer.minimize(error(tf, masked(tf, w, mask), x, y))
        slots = [optimizer.get_slot(w, name) for name in zeroed]
        forget = [slot.assign(slot * mask) for slot in slots]
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = [weights]
        for now in masks:
            s.run(forget, {mask: now})
            s.run(train, {mask: now})
            trajectory.append(s.run(w))
    return np.stack(trajectory[1:]), np.diff(trajectory, axis=0) != 0


def sgd_in_session(tf, session, weights, masks, x, y):
    sgd = tf.compat.v1.train.GradientDescentOptimizer(0.125)
    return train_in_session(tf, session, sgd, weights, masks, x, y)


def momentum_in_session(tf, session, weights, masks, x, y):
    momentum = tf.compat.v1.train.MomentumOptimizer(0.125, momentum=0.75)
    return train_in_session(tf, session, momentum, weights, masks, x, y)


def adam_in_session(tf, session, weights, masks, x, y):
    adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
    return train_in_session(tf, session, adam, weights, masks, x, y)


def zero_slots_in_session(tf, session, weights, masks, x, y):
    adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
    return train_in_session(tf, session, adam, weights, masks, x, y, zeroed=("m", "v"))


def zero_m_in_session(tf, session, weights, masks, x, y):
    adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
    return train_in_session(tf, session, adam, weights, masks, x, y, zeroed=("m",))


def restore_slots_in_session(tf, session, weights, masks, x, y):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train = adam.minimize(error(tf, masked(tf, w, mask), x, y))
        slots = [adam.get_slot(w, name) for name in ("m", "v")]
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory, kept = [], s.run(slots)
        for now in masks:
            for slot, values in zip(slots, kept, strict=True):
                slot.load(values * now, s)
            s.run(train, {mask: now})
            kept = [np.where(now, new, old) for new, old in zip(s.run(slots), kept, strict=True)]
            trajectory.append(s.run(w))
    return np.stack(trajectory)


def train_two(tf, session, steps_of, first, second, x, y):
    with session() as s:
        a = tf.compat.v1.get_variable("a", initializer=first)
        b = tf.compat.v1.get_variable("b", initializer=second)
        steps = steps_of(error(tf, tf.concat([a, b], 0), x, y), a, b)
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = []
        for train in steps:
            s.run(train)
            trajectory.append(s.run((a, b)))
    return tuple(map(np.stack, zip(*trajectory, strict=True)))


def in_turn(train_both, train_first):
    return train_both, train_both, train_first, train_first, train_both, train_both


def followed(first, second):
    return first, second, second[1:] != second[:-1]


def subset_in_session(tf, session, first, second, x, y):
    def steps(loss, a, b):
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        return in_turn(adam.minimize(loss, var_list=[a, b]), adam.minimize(loss, var_list=[a]))

    return followed(*train_two(tf, session, steps, first, second, x, y))


def later_in_session(tf, session, first, second, x, y):
    def steps(loss, a, b):
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        return adam.minimize(loss, var_list=[a]), adam.minimize(loss, var_list=[a, b])

    first, second = train_two(tf, session, steps, first, second, x, y)
    return first[-1], second[-1]


def two_optimizers_in_session(tf, session, first, second, x, y):
    def steps(loss, a, b):
        adams = [tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10) for _ in range(2)]
        train_first = adams[0].minimize(loss, var_list=[a])
        return in_turn((train_first, adams[1].minimize(loss, var_list=[b])), train_first)

    return followed(*train_two(tf, session, steps, first, second, x, y))
