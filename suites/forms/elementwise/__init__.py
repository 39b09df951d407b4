"""Elementwise: the parts of ops that compute each element of their results from one element of each input."""
