"""Three uses of tf.identity."""
