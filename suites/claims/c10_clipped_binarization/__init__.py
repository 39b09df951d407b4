"""Binarizing with a gradient of one's own."""
