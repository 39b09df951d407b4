"""A suite whose import is interrupted, as by a user while the fork server imports TensorFlow."""

import signal

signal.raise_signal(signal.SIGINT)
SPECS = ()
