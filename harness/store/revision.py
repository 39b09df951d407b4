"""Commit: which version of the suites a run ran, as far as git knows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CHANGED = "with changes"
#: What decides a verdict: changes elsewhere, as in docs, are none.
DECIDES = ("harness", "suites", "conftest.py", "pyproject.toml")


def commit(root: Path) -> str:
    """The short hash of the commit that is checked out at `root`, and whether files that decide a verdict differ from
    it, new ones included: `1a2b3c4`, `1a2b3c4 with changes`. Empty where `root` is not the top of a git repository, or
    there is no git.
    """
    top, head = _git(root, "rev-parse", "--show-toplevel"), _git(root, "rev-parse", "--short", "HEAD")
    if not top or not head or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *DECIDES)
    return f"{head} {CHANGED}" if changed else head


def _git(root: Path, *words: str) -> str:
    """What git says; empty where it fails. A hook's variables, which name another repository, are left out."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        command = ["git", "-C", str(root), *words]
        said = subprocess.run(command, capture_output=True, check=False, text=True, env=clean, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
