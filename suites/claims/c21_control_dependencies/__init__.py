"""Control dependencies and reads."""
