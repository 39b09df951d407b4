"""Gradients of one's own: TensorFlow knows them by a name that a process can give away only once."""


def registered(tf, name, grad):
    """The name, after `tf.RegisterGradient(name)(grad)` where this process has not done that before."""
    try:
        tf.RegisterGradient(name)(grad)
    except KeyError:  # an earlier call registered it
        pass
    return name
