"""Minimal reproducers: a program of its own for each finding, run and listed."""
