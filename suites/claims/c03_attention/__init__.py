"""Attention by a Bernoulli sample."""
