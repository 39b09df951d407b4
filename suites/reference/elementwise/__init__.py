"""Elementwise: references of arithmetic, powers, casts, complex numbers and quantisation."""
