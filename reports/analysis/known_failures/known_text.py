"""The text of files of known failures: when each entry last changed, and how spent ones are taken out."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.reports.analysis.known_failures import known_line
from tf_opdiff.reports.analysis.known_failures.known_layout import Span, layout

#: Settings of git's that name no program.
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat")


class Change(NamedTuple):
    """A commit, shortened, and its time (UTC); both empty where they are not known."""

    commit: str = ""
    time: str = ""


#: A kind of an entry: the id of its cause, its number there, counted from 1, and the kind.
Spent = tuple[str, int, str]


def without(text: str, spent: Collection[Spent]) -> str:
    """The text of a file without kinds of its entries, entries without kinds, and causes without entries.

    The comments right above an entry or a cause go with it; all else stays as it is.

    Raises:
      ValueError: it can't be done; the message says so.
    """
    tables = tomllib.loads(text)
    wanted: dict[str, Any] = {}
    edits: list[tuple[Span, str]] = []
    for one in layout(text):
        fields = tables["cause"][one.id]
        items = []
        cuts: list[tuple[Span, str]] = []
        for number, (item, span) in enumerate(zip(fields["entries"], one.entries, strict=True), 1):
            kinds = _kinds(fields.get("defaults", {}) | item)
            left = [kind for kind in kinds if (one.id, number, kind) not in spent]
            if not left:
                cuts.append((_with_comments(text, span), ""))
            else:
                items.append(item if left == kinds else item | {"kind": left[0] if len(left) == 1 else left})
                cuts += [] if left == kinds else [(span, _narrowed(text[span.start : span.end], left))]
        edits += cuts if items else [(_with_comments(text, one.whole, blank=True), "")]
        wanted |= {one.id: fields | {"entries": items}} if items else {}
    after = text
    for span, new in sorted(edits, reverse=True):
        after = after[: span.start] + new + after[span.end :]
    try:
        done = tomllib.loads(after).get("cause", {}) == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError("the file is not laid out one entry a line: delete the spent entries by hand")
    return after


def _kinds(item: Mapping[str, Any]) -> list[str]:
    kinds = item["kind"]
    return [kinds] if isinstance(kinds, str) else kinds


def _narrowed(item: str, kinds: list[str]) -> str:
    """The text of an entry with these kinds."""
    field = f"kind = {known_line.toml(kinds[0] if len(kinds) == 1 else kinds)}"
    new, count = re.subn(r"\bkind\s*=\s*\[[^\]]*\]", lambda _: field, item, count=1)
    return new if count else f"{item[:-1]}, {field}}}"  # the list is one of the defaults


def _with_comments(text: str, span: Span, *, blank: bool = False) -> Span:
    """The whole lines of a part of a text, those of the comments above it, and the blank ones below if asked for.

    A part that shares its lines with others is returned alone, with the comma behind it.
    """
    behind = re.compile(r"[ \t]*,?[ \t]*(?P<line>(#[^\n]*)?(\n|\Z))?").match(text, span.end)
    assert behind is not None
    first = text.rfind("\n", 0, span.start) + 1
    if text[first : span.start].strip() or behind["line"] is None:
        return Span(span.start, behind.end())
    while first and text[text.rfind("\n", 0, first - 1) + 1 : first].lstrip().startswith("#"):
        first = text.rfind("\n", 0, first - 1) + 1
    last = behind.end()
    while blank and (line := re.compile(r"[ \t\r]*\n").match(text, last)):
        last = line.end()
    return Span(first, last)


def changes(path: Path) -> dict[tuple[str, int], Change]:
    """The last change to each entry of a file, by the id of its cause and its number there, counted from 1.

    The dict is empty for a file outside this checkout, and for one that is not laid out as entries in causes.

    Git obeys the settings of the repository that it is asked of, which may name programs: it is asked of this one only,
    and with none of them.
    """
    root = ROOT.resolve()
    if not path.resolve().is_relative_to(root):
        return {}
    git = ["git", "-C", str(root), f"--git-dir={root / '.git'}", f"--work-tree={root}", *_SAFE]
    command = [*git, "blame", "--no-textconv", "--porcelain", "--", str(path.resolve().relative_to(root))]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=clean)
    except (OSError, subprocess.SubprocessError):
        return {}
    lines, commits = [], []
    times: dict[str, int] = {}  # git says it once for each commit
    for line in done.stdout.split("\n"):
        if line.startswith("\t"):
            lines.append(line[1:])
        elif re.fullmatch(r"[0-9a-f]{40} \d+ \d+( \d+)?", line):
            commits.append(line[:40])
        elif line.startswith("committer-time "):
            times[commits[-1]] = int(line.split()[1])
    text, latest = "\n".join(lines), {}
    try:
        causes = layout(text)
    except ValueError:
        return {}
    for cause in causes:
        for number, span in enumerate(cause.entries, 1):
            own = range(text.count("\n", 0, span.start), text.count("\n", 0, span.end) + 1)
            newest = commits[max(own, key=lambda i: times[commits[i]])]
            time = datetime.fromtimestamp(times[newest], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            latest[cause.id, number] = Change(newest[:12], time)
    return latest
