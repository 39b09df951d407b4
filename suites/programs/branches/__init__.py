"""Branches: `tf.cond`, `tf.case`, `tf.switch_case` and the raw ops of conditional control flow."""
