"""A gradient at a shifted point."""
