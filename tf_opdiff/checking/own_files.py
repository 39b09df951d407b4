"""Own files: the user's source files, in contrast to those of installed packages and of Python."""

from __future__ import annotations

import sys


def is_own_file(path: str) -> bool:
    """Whether a source file belongs to no package that is installed or comes with Python; false for no file."""
    installed = "site-packages" in path or path.startswith((sys.base_prefix, sys.prefix, "<"))
    return bool(path) and not installed
