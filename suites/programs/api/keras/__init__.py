"""Functions of `tf.keras`."""
