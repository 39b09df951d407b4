"""The attended feature map, and its gradients, in NumPy."""

import numpy as np


def attended(p, u, features):
    """The features where the sample u < p is 1, else 0."""
    return (u < p) * features


def flowing(g, p, u, features):
    """The VJP where the upstream of the sample flows on to p."""
    return g * features, None, g * (u < p)


def flowing_twice(g, p, u, features):
    """The VJP where the gradient of the sample multiplies the features to an upstream that has them already."""
    return g * features * features, None, g * (u < p)


def through_sample_alone(g, p, u, features):
    """The upstream times the features for p; nothing reaches the features."""
    return g * features, None, None


def stopped(g, p, u, features):
    """The VJP where the sample has no gradient."""
    return None, None, g * (u < p)


def attended_from_below(p, u, features):
    """The features where the sample floor(p + u) is 1, which it is where u ≥ 1 - p, else 0."""
    return np.floor(p + u) * features


def flowing_from_below(g, p, u, features):
    """The VJP of `attended_from_below` where the upstream of the sample flows on to p."""
    return g * features, None, g * np.floor(p + u)
