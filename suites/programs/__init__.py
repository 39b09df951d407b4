"""Specs of irregular programs, one subject a module."""
