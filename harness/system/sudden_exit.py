"""Sudden exit: `os._exit` in somebody's module becomes an exception, so that it can't end a command with success."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class SuddenExit(SystemExit):
    """The code called `os._exit`."""


@contextmanager
def sudden_exit_raises() -> Iterator[None]:
    """Within it, `os._exit` raises `SuddenExit` in this process; in processes that are forked meanwhile, it works."""
    own, end = os.getpid(), os._exit

    def refused(status: int) -> NoReturn:
        if os.getpid() != own:
            end(status)
        raise SuddenExit(f"os._exit({status!r})")

    os._exit = refused
    try:
        yield
    finally:
        os._exit = end
