"""Short programs: a discrepancy as a program of one call, for people who read it."""
