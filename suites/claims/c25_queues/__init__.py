"""Queues and threads."""
