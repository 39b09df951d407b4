"""Programs: programs and values that are drawn, run and shrunk."""
