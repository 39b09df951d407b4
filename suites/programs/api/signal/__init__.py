"""Functions of `tf.signal` that Python composes of several ops."""
