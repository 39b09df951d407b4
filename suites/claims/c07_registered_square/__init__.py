"""Registering a gradient for Square."""
