"""Gh: GitHub's own command line, by which issues and artifacts are reached."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tf_opdiff.reports.text.summary import plain

#: Seconds for one call; an artifact is fetched by one.
TIMEOUT = 1800


def gh(*words: str, given: str | None = None) -> str:
    """What `gh` prints; `given` is its standard input.

    Raises:
      OSError: it is not there, does not end in time, or says that it failed.
    """
    try:
        done = subprocess.run(
            ["gh", *words], input=given, capture_output=True, check=False, encoding="utf-8", timeout=TIMEOUT
        )
    except FileNotFoundError as error:
        raise OSError("there is no gh on the PATH: expected GitHub's command line, and GH_TOKEN") from error
    except subprocess.TimeoutExpired as error:
        raise OSError(f"gh {plain(' '.join(words[:2]))}: no end within {TIMEOUT} s") from error
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or "it said nothing"
        raise OSError(f"gh {plain(' '.join(words[:2]))}: status {done.returncode}: {plain(said, 300)}")
    return done.stdout


def listed(*words: str) -> Any:
    """What `gh` prints, as JSON.

    Raises:
      OSError: it fails.
      ValueError: that is no JSON.
    """
    text = gh(*words)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"gh {plain(' '.join(words[:2]))}: expected JSON, got {plain(text, 100)!r}") from error


def fetch(name: str, into: Path) -> str:
    """Gets the newest artifact of that name that a run of the default branch left, and tells which run that was.

    Another branch's artifact, or a fork's, may have any name and content, and is not taken. Empty where there is none.

    Raises:
      OSError: gh fails, or `into` is there already.
      ValueError: gh prints what is not expected.
    """
    if into.exists():
        raise FileExistsError(f"{into} is there already: expected a folder that is to be made")
    branch = listed("api", "repos/{owner}/{repo}")["default_branch"]
    found = listed("api", f"repos/{{owner}}/{{repo}}/actions/artifacts?name={name}&per_page=100")["artifacts"]
    now = os.environ.get("GITHUB_RUN_ID")
    ours = [
        one
        for one in found
        if not one["expired"]
        and one["workflow_run"]["head_branch"] == branch
        and one["workflow_run"]["head_repository_id"] == one["workflow_run"]["repository_id"]
        and str(one["workflow_run"]["id"]) != now
    ]
    if not ours:
        return ""
    run = str(max(ours, key=lambda one: one["created_at"])["workflow_run"]["id"])
    gh("run", "download", run, "--name", name, "--dir", str(into))
    return run
