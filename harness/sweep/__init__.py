"""Exhaustive tests: a unary elementwise spec on every bit pattern of a dtype."""
