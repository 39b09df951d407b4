"""TensorFlow's random numbers on the CPU in NumPy: Philox 4x32-10, as seeded ops and shuffling queues draw it.

J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11: https://doi.org/10.1145/2063384.2063405
"""

from __future__ import annotations

import numpy as np

#: The seed of a graph that was given none, while its op has one: `tensorflow/python/framework/random_seed.py`.
GRAPH_SEED = 87654321
#: How many blocks of four words an op sets aside for a number that it draws: `guarded_philox_random.h`.
SET_ASIDE = 256
#: The key that mixes the seeds of stateless ops: `stateless_random_ops.cc`.
_MIXING = 0x3EC8F720, 0x02461E29
_LOW = 0xFFFFFFFF


def block(key: tuple[int, int], counter: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Four random words of 32 bits."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = b >> 32 ^ c1 ^ k0, b & _LOW, a >> 32 ^ c3 ^ k1, a & _LOW
        k0, k1 = k0 + 0x9E3779B9 & _LOW, k1 + 0xBB67AE85 & _LOW
    return c0, c1, c2, c3


def words(seed: int, n: int) -> list[int]:
    """The first n words of a stream, as a shuffling queue takes them."""
    return [w for at in range(-(-n // 4)) for w in block((GRAPH_SEED, 0), (at, 0, seed, 0))][:n]


def uniform(word: int) -> np.float32:
    """A float32 in [0, 1) of the lower 23 bits of a word."""
    return np.float32((word & 0x7FFFFF) * 2.0**-23)


def uniforms(seed: int, n: int) -> np.ndarray:
    """What `tf.random.uniform([], seed=seed)` gives when it is run n times, float32."""
    return np.array([uniform(block((GRAPH_SEED, 0), (at * SET_ASIDE, 0, seed, 0))[0]) for at in range(n)])


def stateless_uniform(seed: int, number: int) -> np.float32:
    """What `tf.random.stateless_uniform([], seed=[seed, number])` gives."""
    mixed = block(_MIXING, (seed, 0, number, 0))
    return uniform(block(mixed[:2], (0, 0, *mixed[2:]))[0])
