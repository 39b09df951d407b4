"""The VJP of broadcasting."""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums an upstream over the axes along which an array of this shape was broadcast: the VJP of broadcasting."""
    g = np.asarray(g)
    if g.shape == shape:
        return g  # a sum over no axis would turn -0 into +0
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1), keepdims=True).reshape(shape)
