"""Comparisons, logic, bits and checks."""
