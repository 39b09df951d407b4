"""Benchmarks: what the harness costs beside the bare work, as ratios within one run."""
