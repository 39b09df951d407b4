"""Discovery: draws programs and calls that nobody listed, and judges, shrinks, recognises and groups what differs."""
