"""The attended feature map, and its gradients, in NumPy."""

import numpy as np


def attended(p, u, features):
    return (u < p) * features


def flowing(g, p, u, features):
    return g * features, None, g * (u < p)


def stopped(g, p, u, features):
    return None, None, g * (u < p)


def attended_from_below(p, u, features):
    """With floor, the sample is 1 where u ≥ 1 - p."""
    return np.floor(p + u) * features


def flowing_from_below(g, p, u, features):
    return g * features, None, g * np.floor(p + u)
