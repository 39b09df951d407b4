"""Specs that are derived from other specs: a form asks for them, so that no list names the ops."""
