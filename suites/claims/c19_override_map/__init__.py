"""What an override map means."""
