"""How discrepancies are found out: one noun a module."""
