"""Checks of gradient overrides: where TensorFlow applies the override of a user's callable, or of the suites."""
