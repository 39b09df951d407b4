"""Names: pages of ops, public functions, and lines of specs."""
