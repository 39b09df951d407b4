"""Analysis: changes between runs, causes, history, claims and known failures, worked out from records."""
