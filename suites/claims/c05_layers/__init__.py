"""Skipping a layer on the way back."""
