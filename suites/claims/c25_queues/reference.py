"""The outputs of queues and random ops in NumPy."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.reference.random_numbers import philox

SEED = 7
THREADS = 4


def shuffled(x, size):
    """A shuffling queue: a random word modulo their number chooses among `size` + 1; the last one takes its place."""
    held, coming, taken = list(x[: size + 1]), list(x[size + 1 :]), []
    for word in philox.words(SEED, x.size):
        at = word % len(held)
        taken.append(held[at])
        held[at] = held[-1]
        held.pop()
        held += [coming.pop(0)] if coming else []
    return -np.array(taken)


def means(values):
    """A moving average after each value: half of the average comes from that value."""
    after_each, mean = [], 0.0
    for value in values:
        mean += 0.5 * (value - mean)
        after_each.append(mean)
    return np.array(after_each)


def drawn(x, draws):
    """Examples and numbers, sorted for want of an order; how many numbers and how many threads there are."""
    return np.sort(-x), np.sort(-draws), np.int64(len(np.unique(draws))), np.int64(THREADS)


def numbered(x):
    """The negated examples, each with the noise of its number."""
    noise = np.array([philox.stateless_uniform(SEED, i) for i in range(x.size)])
    return -(x + noise)


def refuses(x, *rest):
    """XLA's refusal."""
    return Raises("INVALID_ARGUMENT")


def python_numbers(x):
    """The negated examples of four runs, each with a number of its own that NumPy draws."""
    return -np.stack([x + np.float32(u) for u in np.random.RandomState(SEED).uniform(size=4)])


def one_python_number(x):
    """The negated examples of four runs, all with the first number that NumPy draws."""
    return -np.stack([x + np.float32(np.random.RandomState(SEED).uniform())] * 4)
