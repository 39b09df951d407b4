"""Loops: `tf.while_loop`, the raw ops of loops, and functions that are mapped over rows."""
