"""The net of the post to the letter, and what its answer and its slides say of the formulas."""
