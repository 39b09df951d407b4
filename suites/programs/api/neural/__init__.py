"""Functions of `tf.nn` and of classes of numbers that Python composes of several ops."""
