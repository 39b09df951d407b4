"""Linear algebra: what contractions and ops on matrices share."""
