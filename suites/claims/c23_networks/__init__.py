"""Several networks."""
