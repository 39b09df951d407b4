"""xdist worker: a process that xdist starts to run some of a session's items."""

from __future__ import annotations

import pytest


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of xdist."""
    return hasattr(config, "workerinput")
