"""What should hold: one op family a file, a plain `SPECS` tuple in each."""
