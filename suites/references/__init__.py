"""References that more than one family needs."""
