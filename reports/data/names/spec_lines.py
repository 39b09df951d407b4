"""Spec lines: the file and line of a spec in the suites, for tools that show findings beside code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tf_opdiff.harness.paths import ROOT

#: The file that stands for a suite without a file of its own.
GENERIC = "suites/test_ops.py"
#: Folders of the suites whose modules declare no spec.
_WITHOUT_SPECS = ("reference", "forms", "tests")


@cache
def place(suite: str, spec: str, root: Path = ROOT) -> tuple[str, int]:
    """The file, relative to the root, and the line, counted from 1, that hold the name of a spec.

    A loop may put a name together from parts. So this looks for the name, then for the name without its last words, and
    then for the last words behind a part that is filled in. A name that is nowhere gets the first line of the first
    file. A suite without a file gets the generic test.
    """
    lines = [(file, n, line) for file in _files(suite, root) for n, line in enumerate(_lines(root / file), 1)]
    words = spec.split("-")
    starts = [rf"""["']{re.escape("-".join(words[:some]))}["'-]""" for some in range(len(words), 0, -1)]
    ends = [rf"""\}}-?{re.escape("-".join(words[some:]))}["']""" for some in range(1, len(words))]
    for quoted in map(re.compile, starts + ends):
        for file, n, line in lines:
            if quoted.search(line):
                return file, n
    return (lines[0][0] if lines else GENERIC), 1


def _files(suite: str, root: Path) -> list[str]:
    """The modules of a family: a file of that name anywhere in the suites, else the files of a folder of that name."""
    if not suite.isidentifier():
        return []
    files = _modules(root)
    own = [path for path in files if path.stem == suite] or [path for path in files if path.parent.name == suite]
    return [str(path) for path in own]


@cache
def _modules(root: Path) -> list[Path]:
    """The modules of the suites that may declare specs, relative to the root."""
    files = [path.relative_to(root) for path in sorted((root / "suites").rglob("*.py"))]
    return [path for path in files if not {*_WITHOUT_SPECS} & {*path.parts}]


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()
