"""Functions of `tf.sparse`, `tf.ragged` and `tf.sets`."""
