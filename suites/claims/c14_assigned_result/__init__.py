"""A result that was assigned to."""
