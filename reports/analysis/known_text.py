"""The text of files of known failures: its entries and causes by their lines, when each last changed, and how spent
ones are taken out."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tf_opdiff.harness.paths import ROOT

#: Settings of git's that name no program.
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat")
_HEAD = re.compile(r"\s*\[\[\s*(entry|cause)\s*\]\]\s*(#.*)?$")


class Change(NamedTuple):
    """A commit, shortened, and its time (UTC); both empty where they are not known."""

    commit: str = ""
    time: str = ""


class _Block(NamedTuple):
    """A table of a file: its kind, `entry` or `cause`, and its first and last line, counted from 0."""

    kind: str
    first: int
    last: int


def without(text: str, entries: Collection[int], causes: Collection[str] = ()) -> str:
    """The text of a file without some of its entries and causes, and without the comments right above those.

    Args:
      text: TOML, one field a line.
      entries: the numbers of the entries to take out, counted from 1.
      causes: the ids of the causes to take out; those that the file does not have are passed over.

    Raises:
      ValueError: it can't be done line by line; the message says so.
    """
    lines, tables = text.splitlines(keepends=True), tomllib.loads(text)
    spent = {"entry": {n - 1 for n in entries}, "cause": set()}
    spent["cause"] = {i for i, cause in enumerate(tables.get("cause", [])) if cause.get("id") in causes}
    keep = np.ones(len(lines), bool)
    counts = {"entry": 0, "cause": 0}
    for kind, first, last in _blocks(lines):
        if counts[kind] in spent[kind]:
            while first and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            while last + 1 < len(lines) and not lines[last + 1].strip():
                last += 1
            keep[first : last + 1] = False
        counts[kind] += 1
    left = "".join(line for line, kept in zip(lines, keep, strict=True) if kept)
    wanted = {kind: [t for i, t in enumerate(tables.get(kind, [])) if i not in spent[kind]] for kind in spent}
    try:
        done = {"entry": [], "cause": [], **tomllib.loads(left)} == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError("the file is not laid out one field a line: delete the spent entries by hand")
    return left


def changes(path: Path) -> list[Change]:
    """The last change to the selectors of each entry of a file; none for a file outside this checkout.

    Git obeys the settings of the repository that it is asked of, which may name programs: it is asked of this one only,
    and with none of them.
    """
    root = ROOT.resolve()
    if not path.resolve().is_relative_to(root):
        return []
    git = ["git", "-C", str(root), f"--git-dir={root / '.git'}", f"--work-tree={root}", *_SAFE]
    command = [*git, "blame", "--no-textconv", "--porcelain", "--", str(path.resolve().relative_to(root))]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=clean)
    except (OSError, subprocess.SubprocessError):
        return []
    lines, commits = [], []
    times: dict[str, int] = {}  # git says it once for each commit
    for line in done.stdout.split("\n"):
        if line.startswith("\t"):
            lines.append(line[1:])
        elif re.fullmatch(r"[0-9a-f]{40} \d+ \d+( \d+)?", line):
            commits.append(line[:40])
        elif line.startswith("committer-time "):
            times[commits[-1]] = int(line.split()[1])
    latest = []
    for kind, first, last in _blocks(lines):
        if kind == "entry":
            own = [i for i in range(first + 1, last + 1) if not re.match(r"\s*(cause\b|#)", lines[i])]
            newest = commits[max(own, key=lambda i: times[commits[i]], default=first)]
            time = datetime.fromtimestamp(times[newest], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            latest.append(Change(newest[:12], time))
    return latest


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """The entries and causes of a file, in order."""
    heads = [(i, match[1]) for i, line in enumerate(lines) if (match := _HEAD.match(line.rstrip("\r\n")))]
    ends = [*(i for i, _ in heads), len(lines)][1:]
    for (first, kind), end in zip(heads, ends, strict=True):
        last = end - 1
        while last > first and (not lines[last].strip() or lines[last].lstrip().startswith("#")):
            last -= 1
        yield _Block(kind, first, last)
