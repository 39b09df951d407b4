"""Smooth stand-ins for floor and step."""
