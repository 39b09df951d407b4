"""Layers, losses, metrics and optimizers of Keras in NumPy."""
