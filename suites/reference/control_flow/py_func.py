"""References of programs that call Python functions."""

import numpy as np


def backwards(x):
    """A function of any dtype, whose result shows what arrived and in which order."""
    return np.ravel(x)[::-1]


def square(x):
    """A function whose derivative is 2x, for `half` to override."""
    return x * x


def half(g, x):
    """The overriding gradient: half the true one."""
    return g * x


def counted(output, number):
    """A reference for three runs of a program: its output each time, and how often Python was called in all."""
    return lambda x: (np.stack([output(x)] * 3), {"calls": np.int64(number)})
