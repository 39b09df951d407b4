"""SGAN: the global generator's opponents are copies of the local discriminators, and learn its samples."""

from tf_opdiff.suites.claims.c23_networks.sgan_program import (
    discriminator_loss,
    generator_loss,
    minimize,
    networks,
    train_in_rounds,
    train_pairs,
)


def mean(tf, losses):
    return tf.add_n(losses) / len(losses)


def train_global(tf, real, noise, pair, opponents, generators):
    d, g = pair
    steps = [minimize(tf, discriminator_loss(tf, real, noise @ g, opponent), opponent) for opponent in opponents]
    steps.append(minimize(tf, mean(tf, [generator_loss(tf, noise @ g, opponent) for opponent in opponents]), g))
    return [*steps, minimize(tf, mean(tf, [discriminator_loss(tf, real, noise @ local, d) for local in generators]), d)]


def with_messengers(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as s:
        discriminators = networks(tf, "discriminator", discriminator_starts)
        generators = networks(tf, "generator", generator_starts)
        (global_d, *local_d), (global_g, *local_g) = discriminators, generators
        messengers = networks(tf, "messenger", discriminator_starts[1:])
        copy = [messenger.assign(local) for messenger, local in zip(messengers, local_d, strict=True)]
        local_steps = train_pairs(tf, real, noise, local_d, local_g)
        global_steps = train_global(tf, real, noise, (global_d, global_g), messengers, local_g)
        return train_in_rounds(tf, s, (*local_steps, copy, *global_steps), discriminators, generators)


def without_messengers(tf, session, real, noise, discriminator_starts, generator_starts):
    with session() as s:
        discriminators = networks(tf, "discriminator", discriminator_starts)
        generators = networks(tf, "generator", generator_starts)
        (global_d, *local_d), (global_g, *local_g) = discriminators, generators
        local_steps = train_pairs(tf, real, noise, local_d, local_g)
        global_steps = train_global(tf, real, noise, (global_d, global_g), local_d, local_g)
        return train_in_rounds(tf, s, (*local_steps, *global_steps), discriminators, generators)
