"""The sentence of Keras' documentation on the issue's own layer, and the exception that it names today."""
