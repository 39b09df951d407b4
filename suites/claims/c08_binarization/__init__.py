"""Binarizing with a scale, the first attempt."""
