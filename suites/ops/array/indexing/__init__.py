"""Ops that read, find or write elements by indices."""
