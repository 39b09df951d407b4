"""Binarizing with a scale, mended."""
