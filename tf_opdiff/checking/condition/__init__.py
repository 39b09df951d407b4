"""Condition: what rounding in the ops of a checked callable does to its results."""
