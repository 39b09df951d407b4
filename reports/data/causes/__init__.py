"""Causes: the discrepancies of a run, by cause, mechanism and severity."""
