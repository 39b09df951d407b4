"""Elementary functions, arithmetic and casts."""
