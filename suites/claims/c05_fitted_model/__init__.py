"""Skipping a layer of a Keras model that is fitted."""
