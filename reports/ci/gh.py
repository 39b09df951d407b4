"""Gh: GitHub's command line, which reads and changes issues and artifacts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tf_opdiff.reports.text.lines import plain

#: Seconds for one call; the download of an artifact is one call.
TIMEOUT = 1800


def gh(*words: str, stdin: str | None = None) -> str:
    """The output of `gh` with these arguments and this standard input.

    Raises:
      OSError: gh is missing, takes too long, or fails.
    """
    try:
        process = subprocess.run(
            ["gh", *words], input=stdin, capture_output=True, check=False, encoding="utf-8", timeout=TIMEOUT
        )
    except FileNotFoundError as error:
        raise OSError("no gh on the PATH: expected GitHub's command line, and GH_TOKEN") from error
    except subprocess.TimeoutExpired as error:
        raise OSError(f"gh {plain(' '.join(words[:2]))}: expected an end within {TIMEOUT} s") from error
    if process.returncode:
        message = process.stderr.strip() or process.stdout.strip() or "no message"
        raise OSError(f"gh {plain(' '.join(words[:2]))}: status {process.returncode}: {plain(message, 300)}")
    return process.stdout


def listed(*words: str) -> Any:
    """The output of `gh`, read as JSON.

    Raises:
      OSError: gh fails.
      ValueError: the output is no JSON.
    """
    text = gh(*words)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"gh {plain(' '.join(words[:2]))}: expected JSON, got {plain(text, 100)!r}") from error


def fetch(name: str, into: Path) -> str:
    """Downloads the newest artifact of that name from a run of the default branch; returns the id of that run.

    An artifact of another branch or of a fork may have any name and content, so it does not count. Returns an empty
    text if there is no artifact.

    Raises:
      OSError: gh fails, or `into` exists already.
      ValueError: the output of gh is malformed.
    """
    if into.exists():
        raise FileExistsError(f"{into} exists already: expected the name of a new folder")
    branch = listed("api", "repos/{owner}/{repo}")["default_branch"]
    address = f"repos/{{owner}}/{{repo}}/actions/artifacts?name={name}&per_page=100"
    artifacts = [artifact for artifact in listed("api", address)["artifacts"] if _is_ours(artifact, branch)]
    if not artifacts:
        return ""
    run = str(max(artifacts, key=lambda artifact: artifact["created_at"])["workflow_run"]["id"])
    gh("run", "download", run, "--name", name, "--dir", str(into))
    return run


def _is_ours(artifact: dict[str, Any], branch: str) -> bool:
    """Whether an artifact still exists and comes from another run of this repository's default branch."""
    run = artifact["workflow_run"]
    return (
        not artifact["expired"]
        and run["head_branch"] == branch
        and run["head_repository_id"] == run["repository_id"]
        and str(run["id"]) != os.environ.get("GITHUB_RUN_ID")
    )
