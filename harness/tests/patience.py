"""Patience: how long a test waits for what other processes do.

Tests wait for events; this only keeps a test from hanging for ever. It is no measure of speed: on a machine that is
busy with other work, starting TensorFlow takes minutes.
"""

#: Seconds after which something counts as hung.
PATIENCE = 900.0
