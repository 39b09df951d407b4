"""Overrides in every mechanism and place: declarations, mechanisms, places, and outcomes."""
