"""Functions of `tf.linalg`."""
