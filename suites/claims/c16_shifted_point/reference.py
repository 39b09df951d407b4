"""The estimates, and the norm itself, in NumPy."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises


def estimate(a, delta):
    """The gradient is 3·a²."""
    change = 3 * (a + delta) ** 2 - 3 * a**2
    return np.sqrt(np.sum(change**2)) / np.sqrt(np.sum(delta**2))


def estimate_bound(u, g, a, delta):
    """Each gradient is a sum of three products of two: 5 roundings at most, then one of a + delta, which counts twice,
    and one of the difference. A norm of n numbers is off by n/2 + 1 roundings at most, and there are two."""
    gradients = 3 * (a + delta) ** 2 + 3 * a**2
    return u * (8 * np.sqrt(np.sum(gradients**2) / np.sum(delta**2)) + (a.size + 4) * estimate(a, delta))


def along_delta(a, delta):
    """How far the Hessian, which has 6·a on its diagonal, takes a step along delta, for its length."""
    return np.sqrt(np.sum((6 * a * delta) ** 2)) / np.sqrt(np.sum(delta**2))


def hessian_norm(a, delta):
    """The norm of the Hessian, which has 6·a on its diagonal."""
    return np.sqrt(np.sum((6 * a) ** 2))


def none(a, delta):
    """The error of subtracting from None."""
    return Raises("ValueError", "None")


def quotients(a, delta):
    """The mean of quotients for the square of a sum, whose Hessian has a 2 everywhere: each is Σδ/δ, twice."""
    return np.mean(2 * delta.sum(-1, keepdims=True) / delta, axis=0)


def products(a, delta):
    """The mean of products for the square of a sum: each is Σδ·δ, twice."""
    return np.mean(2 * delta.sum(-1, keepdims=True) * delta, axis=0)


def diagonal(a, delta):
    """The diagonal of the Hessian of the square of a sum."""
    return np.full(a.shape, 2.0)


def diagonal_of_cubes(a, delta):
    """The diagonal of the Hessian of the sum of cubes."""
    return 6 * a


def as_printed(a, delta):
    """The mean of the gradient 3·(a + δ)², less 3·(a − δ)²/(2·δ): only the second gradient is divided."""
    return np.mean(3 * (a + delta) ** 2 - 3 * (a - delta) ** 2 / (2 * delta), axis=0)


def mean_bound(terms):
    """The gradients are exact. Each term is rounded once, and so is their mean; a sum rounds once for each."""
    return lambda u, g, a, delta: (len(delta) + 2) * u * np.mean(np.abs(terms(a, delta)), axis=0)


QUOTIENTS = mean_bound(lambda a, delta: 2 * delta.sum(-1, keepdims=True) / delta)
PRODUCTS = mean_bound(lambda a, delta: 2 * delta.sum(-1, keepdims=True) * delta)
PRINTED = mean_bound(lambda a, delta: 3 * (a + delta) ** 2 + np.abs(3 * (a - delta) ** 2 / delta))
CUBES = mean_bound(lambda a, delta: 6 * a + 0 * delta)
