"""Gradients of one's own: TensorFlow knows them by a name that a process can give away only once."""

import contextlib


def registered(tf, name, grad):
    """The name, after `tf.RegisterGradient(name)(grad)` where this process has not done that before."""
    with contextlib.suppress(KeyError):  # an earlier call registered it
        tf.RegisterGradient(name)(grad)
    return name
