"""Known failures: entries that a run suggests, uses or no longer needs."""
