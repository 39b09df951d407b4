"""Checking: one's own callable on every device and in every mode; see `tf_opdiff.check`."""
