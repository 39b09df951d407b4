"""Ops that put elements in other places."""
