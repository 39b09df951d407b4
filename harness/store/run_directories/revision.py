"""Revision: the git commit of the suites that a run used."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CHANGED = "with changes"
#: The paths that decide verdicts; changes of other files, such as docs, do not count.
DECIDES = ("harness", "suites", "conftest.py", "pyproject.toml")


def commit(root: Path) -> str:
    """The short hash of the commit that is checked out at `root`: `1a2b3c4`, or `1a2b3c4 with changes`.

    Changes are those of files that decide verdicts, new files included. The text is empty if `root` is not the top of
    a git repository, or git is not installed.
    """
    top, head = _git(root, "rev-parse", "--show-toplevel"), _git(root, "rev-parse", "--short", "HEAD")
    if not top or not head or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *DECIDES)
    return f"{head} {CHANGED}" if changed else head


def _git(root: Path, *words: str) -> str:
    """The output of git; empty if git fails. Variables of hooks, which name another repository, are left out.

    Git writes nothing: a `git status` that ends early would otherwise leave a lock in the user's repository.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        command = ["git", "-C", str(root), *words]
        result = subprocess.run(command, capture_output=True, check=False, text=True, env=clean, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
