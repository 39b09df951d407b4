"""Spectral ops."""
