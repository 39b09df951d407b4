"""The gradient of Merge in a loop."""
