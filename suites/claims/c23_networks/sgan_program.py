"""SGAN: pairs of a discriminator and a generator that train apart, and a global pair that trains on copies of them."""

import numpy as np

ROUNDS = 3


def discriminator_loss(tf, real, made, discriminator):
    of_real = tf.nn.softplus(-tf.linalg.matvec(real, discriminator))
    return tf.reduce_mean(of_real) + tf.reduce_mean(tf.nn.softplus(tf.linalg.matvec(made, discriminator)))


def generator_loss(tf, made, discriminator):
    return tf.reduce_mean(tf.nn.softplus(-tf.linalg.matvec(made, discriminator)))


def minimize(tf, loss, variable):
    return tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=[variable])


def networks(tf, name, starts):
    return [tf.compat.v1.get_variable(f"{name}{i}", initializer=start) for i, start in enumerate(starts)]


def train_pairs(tf, real, noise, discriminators, generators):
    pairs = list(zip(discriminators, generators, strict=True))
    steps = [minimize(tf, discriminator_loss(tf, real, noise @ g, d), d) for d, g in pairs]
    return steps + [minimize(tf, generator_loss(tf, noise @ g, d), g) for d, g in pairs]


def train_global(tf, real, noise, pair, discriminators, generators):
    d, g = pair
    losses = [discriminator_loss(tf, real, noise @ local, d) for local in generators]
    train_d = minimize(tf, tf.add_n(losses) / len(losses), d)
    losses = [generator_loss(tf, noise @ g, local) for local in discriminators]
    return train_d, minimize(tf, tf.add_n(losses) / len(losses), g)


def train_in_rounds(tf, s, steps, discriminators, generators):
    s.run(tf.compat.v1.global_variables_initializer())
    rounds = []
    for _ in range(ROUNDS):
        for step in steps:
            s.run(step)
        (global_d, *local_d), (global_g, *local_g) = s.run((discriminators, generators))
        rounds.append((np.stack(local_d), np.stack(local_g), global_d, global_g))
    return [np.stack(each) for each in zip(*rounds, strict=True)]


def sgan(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as s:
        discriminators = networks(tf, "discriminator", discriminator_starts)
        generators = networks(tf, "generator", generator_starts)
        (global_d, *local_d), (global_g, *local_g) = discriminators, generators
        copied_d = networks(tf, "copied_discriminator", discriminator_starts[1:])
        copied_g = networks(tf, "copied_generator", generator_starts[1:])
        pairs = zip((*copied_d, *copied_g), (*local_d, *local_g), strict=True)
        copy = [copied.assign(local) for copied, local in pairs]
        local_steps = train_pairs(tf, real, noise, local_d, local_g)
        global_steps = train_global(tf, real, noise, (global_d, global_g), copied_d, copied_g)
        return train_in_rounds(tf, s, (*local_steps, copy, *global_steps), discriminators, generators)


def sgan_without_copies(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as s:
        discriminators = networks(tf, "discriminator", discriminator_starts)
        generators = networks(tf, "generator", generator_starts)
        (global_d, *local_d), (global_g, *local_g) = discriminators, generators
        local_steps = train_pairs(tf, real, noise, local_d, local_g)
        global_steps = train_global(tf, real, noise, (global_d, global_g), local_d, local_g)
        return train_in_rounds(tf, s, (*local_steps, *global_steps), discriminators, generators)
