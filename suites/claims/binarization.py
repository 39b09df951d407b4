"""Binarization with a scale, as in XNOR-Net and DoReFa-Net, in NumPy: shared by C08 to C10."""

import numpy as np


def scale(x):
    """The mean magnitude."""
    return np.mean(np.abs(x))


def binarized(x):
    """Signs, times the mean magnitude."""
    return np.sign(x) * scale(x)


#: A sum of n numbers in any order, and two operations more.
MEAN = {"output": lambda u, g, x: (x.size + 2) * u * scale(x)}
