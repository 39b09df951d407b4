"""GitHub issues: read and changed by gh, GitHub's command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.system.text_file import read_json
from tf_opdiff.reports.ci.gh import gh, listed
from tf_opdiff.reports.ci.issues import Action, Issue
from tf_opdiff.reports.text.lines import plain

#: We own the issues with this label; only people who may write to the repository can set it.
LABEL = "nightly"
#: The most issues that are read.
READ = 1000
FIELDS = "number,title,body,state,stateReason"


def existing(path: Path | None = None) -> list[Issue]:
    """The issues with the label, from GitHub, or from a file with the output of gh.

    Raises:
      OSError: GitHub or the file can't be read.
      ValueError: the output is malformed, or has too many issues.
    """
    rows: Any
    if path:
        rows = read_json(path)
    else:
        rows = listed("issue", "list", "--label", LABEL, "--state", "all", "--limit", str(READ), "--json", FIELDS)
    try:
        issues = msgspec.convert(rows, list[Issue])
    except msgspec.ValidationError as error:
        raise ValueError(f"issues: {error}: expected the output of gh issue list --json {FIELDS}") from error
    if len(issues) >= READ:
        raise ValueError(f"{READ} issues or more have the label {LABEL}: remove the label from old ones")
    return issues


def apply(actions: Iterable[Action]) -> None:
    """Carries out the actions with gh. A second time it changes nothing, since the issues are then as planned.

    Raises:
      OSError: gh fails; the actions before stay done.
    """
    labelled = False
    for action in actions:
        if action.do == "open":
            if not labelled:
                gh("label", "create", LABEL, "--force", "--description", "A cause of failures in the nightly matrix")
                labelled = True
            _open(action)
        else:
            _change(action)


def _open(action: Action) -> None:
    words = ("issue", "create", "--title", action.title, "--label", LABEL, "--body-file", "-")
    address = gh(*words, stdin=action.body)
    print(f"opened {plain(address.strip(), 200)}: {plain(action.title, 100)}")


def _change(action: Action) -> None:
    number = str(action.number)
    if action.do == "reopen":
        gh("issue", "reopen", number)
    if action.do in ("reopen", "update"):
        gh("issue", "edit", number, "--title", action.title, "--body-file", "-", stdin=action.body)
    if action.comment:
        gh("issue", "comment", number, "--body-file", "-", stdin=action.comment)
    if action.do == "close":
        gh("issue", "close", number, "--reason", "completed")
    print(f"{action.do} {action.number or ''}: {plain(action.title, 100)}: {plain(action.why, 300)}")
