"""Both networks after each step, by gradient descent and by Adam, in NumPy."""

from typing import Any

import numpy as np

ROUNDS = 4
MADE = 2


def _softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _gradients(real, noise, discriminator, generator):
    """The gradients of the discriminator's loss, and of the generator's: the negated part of the made samples."""
    samples = np.tanh(noise @ generator)
    by_real = (_softmax(real @ discriminator) - np.eye(3)[np.arange(len(real)) % 2]) / len(real)
    by_made = (_softmax(samples @ discriminator) - np.eye(3)[MADE]) / len(samples)
    through = noise.T @ (by_made @ discriminator.T * (1 - samples**2))
    return (real.T @ by_real + samples.T @ by_made, through), (-samples.T @ by_made, -through)


def _descent(both, real, noise, discriminator, generator):
    """Weights after each round of steepest descent; of `both`, each step moves both networks."""
    steps = []
    for _ in range(ROUNDS):
        (d, g), _ = _gradients(real, noise, discriminator, generator)
        discriminator, generator = discriminator - 0.5 * d, generator - 0.5 * g * both
        _, (d, g) = _gradients(real, noise, discriminator, generator)
        discriminator, generator = discriminator - 0.5 * d * both, generator - 0.5 * g
        steps.append((discriminator, generator))
    return tuple(np.stack(s) for s in zip(*steps, strict=True))


def _adam(times, *inputs):
    """Weights after each round of Adam; `times(round)` are the exponents of the betas in the round's two steps."""
    real, noise, *weights = inputs
    moments: list[Any] = [(0, 0), (0, 0)]
    steps = []
    for round in range(ROUNDS):
        for which, t in enumerate(times(round)):
            g = _gradients(real, noise, *weights)[which][which]
            m, v = moments[which]
            m, v = moments[which] = 0.5 * m + 0.5 * g, 0.75 * v + 0.25 * g * g
            rate = 0.125 * np.sqrt(1 - np.longdouble(0.75) ** t) / (1 - np.longdouble(0.5) ** t)
            weights[which] = weights[which] - rate * m / (np.sqrt(v) + 0.125)
        steps.append(tuple(weights))
    return tuple(np.stack(s) for s in zip(*steps, strict=True))


def _wide(reference):
    return lambda *inputs: reference(*(x.astype(np.longdouble) for x in inputs))


@_wide
def in_turn(*inputs):
    """Gradient descent in which each step moves the network that it trains."""
    return _descent(0, *inputs)


@_wide
def both_at_once(*inputs):
    """Gradient descent in which each step moves both networks."""
    return _descent(1, *inputs)


@_wide
def each_adam(*inputs):
    """Training by an Adam for each network."""
    return _adam(lambda round: (round + 1, round + 1), *inputs)


@_wide
def one_adam(*inputs):
    """Its powers advance with each step that it takes, whichever network that is of."""
    return _adam(lambda round: (2 * round + 1, 2 * round + 2), *inputs)


def rounding(u, g, *inputs):
    """Weights stay below 2: each of a round's two updates rounds them by u, and what it takes off, half a short sum of
    numbers below 1, by about as much. What was there before shrinks: the rate is below what would overshoot.
    """
    return 4 * u * np.arange(1, ROUNDS + 1).reshape(-1, 1, 1)


def rounding_in_the_end(u, g, *inputs):
    """The bound of the last state of a trajectory."""
    return rounding(u, g, *inputs)[-1]


def with_final(reference):
    """The reference of a program with state: the weights after each round, and those in the end."""

    def stated(*inputs):
        discriminator, generator = reference(*inputs)
        return discriminator, generator, {"discriminator": discriminator[-1], "generator": generator[-1]}

    return stated
