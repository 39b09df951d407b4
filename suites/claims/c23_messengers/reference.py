"""The weights of SGAN's pairs after each round, with messengers and without, in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c23_networks.sgan_program import ROUNDS
from tf_opdiff.suites.claims.c23_networks.sgan_reference import RATE, by_discriminator, by_generator, mean
from tf_opdiff.suites.reference.promises.running import bound


def _trained(copied):
    """Training against opponents that learn, which are copies of the local discriminators or these themselves."""

    def reference(real, noise, discriminators, generators):
        (d, *local_d), (g, *local_g) = list(discriminators), list(generators)
        rounds = []
        for _ in range(ROUNDS):
            local_d = [x - RATE * by_discriminator(real, noise @ y, x) for x, y in zip(local_d, local_g, strict=True)]
            local_g = [y - RATE * by_generator(noise, y, x) for x, y in zip(local_d, local_g, strict=True)]
            opponents = [x - RATE * by_discriminator(real, noise @ g, x) for x in local_d]
            local_d = local_d if copied else opponents
            g = g - RATE * mean([by_generator(noise, g, x) for x in opponents])
            d = d - RATE * mean([by_discriminator(real, noise @ y, d) for y in local_g])
            rounds.append((np.stack(local_d), np.stack(local_g), d, g))
        return tuple(np.stack(each) for each in zip(*rounds, strict=True))

    return reference


with_messengers = _trained(copied=True)
without_messengers = _trained(copied=False)


def bounds(reference):
    """The bounds of the four outputs."""
    return {f"output[{i}]": bound(reference, i) for i in range(4)}
