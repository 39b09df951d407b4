"""TensorFlow ops inside a Python function."""
