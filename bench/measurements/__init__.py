"""Measurements: the benchmarks of `python -m bench`."""
