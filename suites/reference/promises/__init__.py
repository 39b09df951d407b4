"""Promises: what references return, and how they compute values, derivatives and errors."""
