"""References in NumPy and mpmath, in modules that are named like those of `suites.ops` and `suites.programs`."""
