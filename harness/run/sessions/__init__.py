"""Sessions: a run within pytest, from its options to its exit status."""
