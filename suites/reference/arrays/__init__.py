"""Arrays: references of ops that move elements and compute nothing with them."""
