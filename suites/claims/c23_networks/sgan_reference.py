"""The weights of SGAN's local pairs and of its global pair after each round, in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c23_networks.sgan_program import ROUNDS
from tf_opdiff.suites.reference.promises.running import bound

RATE = 0.5


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_discriminator(real, made, d):
    """The gradient of the discriminator's loss by its weights."""
    of_real = -_sigmoid(-(real @ d)) / len(real)
    return real.T @ of_real + made.T @ (_sigmoid(made @ d) / len(made))


def by_generator(noise, g, d):
    """The gradient of the generator's loss by its weights."""
    by_made = (-_sigmoid(-(noise @ g @ d)) / len(noise))[:, None] * d
    return noise.T @ by_made


def mean(gradients):
    total = gradients[0]
    for gradient in gradients[1:]:
        total = total + gradient
    return total / len(gradients)


def sgan(real, noise, discriminators, generators):
    """Weights after each round: the local discriminators, the local generators, and the global ones."""
    (d, *local_d), (g, *local_g) = list(discriminators), list(generators)
    rounds = []
    for _ in range(ROUNDS):
        for i, (discriminator, generator) in enumerate(zip(local_d, local_g, strict=True)):
            local_d[i] = discriminator - RATE * by_discriminator(real, noise @ generator, discriminator)
        for i, (discriminator, generator) in enumerate(zip(local_d, local_g, strict=True)):
            local_g[i] = generator - RATE * by_generator(noise, generator, discriminator)
        d = d - RATE * mean([by_discriminator(real, noise @ generator, d) for generator in local_g])
        g = g - RATE * mean([by_generator(noise, g, discriminator) for discriminator in local_d])
        rounds.append((np.stack(local_d), np.stack(local_g), d, g))
    return tuple(np.stack(each) for each in zip(*rounds, strict=True))


def local_pairs_alone(real, noise, discriminators, generators):
    """The same where the global pair stays as it is."""
    local_d, local_g, d, g = sgan(real, noise, discriminators, generators)
    stays = np.zeros_like(d) + discriminators[0], np.zeros_like(g) + generators[0]
    return local_d, local_g, *stays


BOUNDS = {f"output[{i}]": bound(sgan, i) for i in range(4)}
