"""Functions of `tf.experimental.numpy`."""
