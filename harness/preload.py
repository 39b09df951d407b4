"""Preload: what the fork server imports, so that each device server is a fork with TensorFlow already there."""

import os

_log = os.environ.get("TF_OPDIFF_LOG")
if _log:
    _file = os.open(_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(_file, 1)
    os.dup2(_file, 2)

import harness.server  # noqa: F401
