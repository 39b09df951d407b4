"""Ops that make arrays or change the representation of their elements."""
