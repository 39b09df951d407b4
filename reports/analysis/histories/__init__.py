"""Histories: the verdicts of many runs over time."""
