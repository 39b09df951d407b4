"""Optimization: references of the steps of optimizers."""
