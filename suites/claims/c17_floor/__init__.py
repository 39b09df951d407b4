"""The gradient of floor."""
