"""Frozen weights and optimisers."""
