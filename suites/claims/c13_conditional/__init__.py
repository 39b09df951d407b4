"""The gradient of a conditional."""
