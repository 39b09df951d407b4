"""The gradient of a selection."""
