"""Sentences: records, runs, changes and discrepancies in words."""
