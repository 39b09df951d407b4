"""The numerics of Keras across backends."""
