"""x·yⁿ and its gradients in NumPy."""

import numpy as np


def power(count, x, y):
    """x times y, `count` times."""
    return x * y ** int(count)


def gradients(g, count, x, y):
    """The VJP; without an iteration, y gets zeros."""
    n = int(count)
    return None, g * y**n, g * x * n * y ** (n - 1) if n else np.zeros_like(y)


def bound(u, g, count, x, y):
    """A product of count + 1 factors, and a sum of as many such products."""
    n = int(count)
    size = np.abs(x) * np.abs(y) ** n if g is None else np.abs(g) * (1 + np.abs(x)) * (1 + np.abs(y)) ** n
    return 4 * (n + 1) ** 2 * u * size
