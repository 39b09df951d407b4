"""SGAN with a graph and a session for each pair: load hands the local networks over to the global pair."""

import numpy as np

from tf_opdiff.suites.claims.c23_messengers.program import train_global
from tf_opdiff.suites.claims.c23_networks.sgan_program import ROUNDS, networks, train_pairs


class LocalPair:
    """A local pair in the graph of its session, and the steps that train it."""

    def __init__(self, tf, s, real, noise, discriminator_start, generator_start):
        self.session = s
        self.networks = [*networks(tf, "discriminator", [discriminator_start])]
        self.networks += networks(tf, "generator", [generator_start])
        self.steps = train_pairs(tf, real, noise, self.networks[:1], self.networks[1:])
        s.run(tf.compat.v1.global_variables_initializer())

    def train(self):
        for step in self.steps:
            self.session.run(step)
        return self.session.run(self.networks)


class GlobalPair:
    """The global pair in the graph of its session, with copies of the local networks."""

    def __init__(self, tf, s, real, noise, discriminator_starts, generator_starts):
        self.session = s
        d, *self.messengers = networks(tf, "discriminator", discriminator_starts)
        g, *self.copies = networks(tf, "generator", generator_starts)
        self.networks = [d, g]
        self.steps = train_global(tf, real, noise, (d, g), self.messengers, self.copies)
        s.run(tf.compat.v1.global_variables_initializer())

    def train(self, local_weights):
        for (discriminator, generator), messenger, copy in zip(
            local_weights, self.messengers, self.copies, strict=True
        ):
            messenger.load(discriminator, self.session)
            copy.load(generator, self.session)
        for step in self.steps:
            self.session.run(step)
        return self.session.run(self.networks)


def in_graphs(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as s:
        first = LocalPair(tf, s, real, noise, discriminator_starts[1], generator_starts[1])
        with session() as s:
            second = LocalPair(tf, s, real, noise, discriminator_starts[2], generator_starts[2])
            with session() as s:
                both = GlobalPair(tf, s, real, noise, discriminator_starts, generator_starts)
                rounds = []
                for _ in range(ROUNDS):
                    local_weights = [first.train(), second.train()]
                    global_weights = both.train(local_weights)
                    rounds.append((*map(np.stack, zip(*local_weights, strict=True)), *global_weights))
    return [np.stack(each) for each in zip(*rounds, strict=True)]
