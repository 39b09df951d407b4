"""Copying weights."""
