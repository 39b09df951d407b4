"""Comparisons: what changed between two runs, and why."""
