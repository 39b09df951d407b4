"""Functions of `tf.image`."""
