"""Overrides: whether gradient overrides are applied."""
