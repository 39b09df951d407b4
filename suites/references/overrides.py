"""Gradient overrides: names that are registered once."""

import contextlib


def registered(tf, name, grad):
    """Registers a gradient, unless this process did so before, and returns its name."""
    with contextlib.suppress(KeyError):  # which is what a name that is taken raises
        tf.RegisterGradient(name)(grad)
    return name
