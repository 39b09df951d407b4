"""Conventions: promises where mathematics leaves a choice; docs/explanations/conventions.md explains them."""

#: Specs whose result is the larger or the smaller of two numbers: of zeros of both signs, either may be chosen.
EXTREMES = ("maximum", "minimum", "relu", "relu6")
