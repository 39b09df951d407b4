"""Figures: errors, counts and tested inputs of a run."""
