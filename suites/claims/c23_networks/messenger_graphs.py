"""SGAN with a graph and a session for each pair: load hands the local networks over to the global pair."""

import numpy as np

from tf_opdiff.suites.claims.c23_networks.messenger_program import train_global
from tf_opdiff.suites.claims.c23_networks.sgan_program import ROUNDS, networks, train_pairs


def local_pair(tf, s, real, noise, discriminator_start, generator_start):
    (d,) = networks(tf, "discriminator", [discriminator_start])
    (g,) = networks(tf, "generator", [generator_start])
    steps = train_pairs(tf, real, noise, [d], [g])
    s.run(tf.compat.v1.global_variables_initializer())
    return s, steps, (d, g)


def train(s, steps, weights):
    for step in steps:
        s.run(step)
    return s.run(weights)


def in_graphs(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as first:
        first_pair = local_pair(tf, first, real, noise, discriminator_starts[1], generator_starts[1])
        with session() as second:
            second_pair = local_pair(tf, second, real, noise, discriminator_starts[2], generator_starts[2])
            with session() as s:
                d, *messengers = networks(tf, "discriminator", discriminator_starts)
                g, *copies = networks(tf, "generator", generator_starts)
                steps = train_global(tf, real, noise, (d, g), messengers, copies)
                s.run(tf.compat.v1.global_variables_initializer())
                rounds = []
                for _ in range(ROUNDS):
                    local_d, local_g = zip(train(*first_pair), train(*second_pair), strict=True)
                    for copy, weights in zip((*messengers, *copies), (*local_d, *local_g), strict=True):
                        copy.load(weights, s)
                    rounds.append((np.stack(local_d), np.stack(local_g), *train(s, steps, (d, g))))
    return [np.stack(each) for each in zip(*rounds, strict=True)]
