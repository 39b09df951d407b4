"""Reductions: references of ops that take elements together, sort them or count them."""
