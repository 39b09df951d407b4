"""Attention by a Bernoulli sample that a Python function draws."""
