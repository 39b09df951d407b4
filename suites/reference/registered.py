"""Gradients of one's own: TensorFlow knows them by a name that a process can give away only once."""

_names: set[str] = set()


def registered(tf, name, grad):
    """The name, after `tf.RegisterGradient(name)(grad)` where this process has not done that before."""
    if name not in _names:
        tf.RegisterGradient(name)(grad)
        _names.add(name)
    return name
