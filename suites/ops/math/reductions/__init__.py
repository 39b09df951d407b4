"""Reductions, scans and segments."""
