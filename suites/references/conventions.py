"""Conventions: what is promised where mathematics leaves it open; docs/conventions.md has them in words."""

#: Specs whose result is the larger or the smaller of two numbers: of zeros of both signs, either may be chosen.
EXTREMES = ("maximum", "minimum", "relu", "relu6")
