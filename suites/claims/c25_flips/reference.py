"""How many images are flipped, by the random numbers of TensorFlow, in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c25_queues.reference import SEED, THREADS
from tf_opdiff.suites.reference.random_numbers import philox

BATCH = 4
#: How many threads put images into the queue, and how many take them.
_THREADS = np.int64(THREADS), np.int64(THREADS)


def _rows(images):
    """The sums of the rows of all images, which no flip changes, in the order of the images' sums."""
    return images[np.argsort(images.sum(axis=(1, 2, 3)))].sum(axis=2)


def of_each(images):
    """An image is flipped if its number is below one half."""
    return _rows(images), np.int64(np.count_nonzero(philox.uniforms(SEED, len(images)) < 0.5)), *_THREADS


def of_batches(images):
    """The numbers of a batch are the words of one block; an image is flipped if its number rounds to 1."""
    numbers = [
        philox.uniform(word)
        for at in range(len(images) // BATCH)
        for word in philox.block((philox.GRAPH_SEED, 0), (at * BATCH * philox.SET_ASIDE, 0, SEED, 0))
    ]
    return _rows(images), np.int64(np.count_nonzero(np.round(numbers))), *_THREADS
