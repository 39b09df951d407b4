"""Center loss."""
