"""Model: finds the first op of a user's program whose own result differs between plans; see `tf-opdiff model`."""
