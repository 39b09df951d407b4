"""Test runner: selects items, runs their cases under every plan, and ends a run."""
