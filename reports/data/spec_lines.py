"""Source: where in the suites a spec stands, for tools that show findings beside code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tf_opdiff.harness.paths import ROOT

GENERIC = "suites/test_ops.py"


@cache
def place(suite: str, spec: str, root: Path = ROOT) -> tuple[str, int]:
    """The file, seen from the root, and the line, counted from 1, where the name of a spec stands.

    A name that is put together in a loop is looked for without its last words, and then by them alone, behind the part
    that is put in; the first line stands for one that is not found at all, and the generic test for a suite without a
    file.
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
    """The family's file, or those of its folder; not the file of the same name that has the family's references."""
    if not suite.isidentifier():
        return []
    files = sorted((root / "suites").rglob("*.py"))
    here = [path for path in files if not {"reference", "forms", "tests"} & set(path.parts)]
    found = [path for path in here if path.stem == suite] or [path for path in here if path.parent.name == suite]
    return [str(path.relative_to(root)) for path in found]


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()
