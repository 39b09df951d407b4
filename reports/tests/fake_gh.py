"""A stand-in for GitHub's command line, which is no program of this project: issues and artifacts are files.

`$FAKE_GH` is a folder: `calls` gets a line of JSON for each call, `issues.json` holds the issues, `artifacts.json` what
the API says of artifacts, and `artifacts/RUN/NAME` what they hold. What it does not know it refuses.
"""

import json
import os
import shutil
import sys
from pathlib import Path

words, folder = sys.argv[1:], Path(os.environ["FAKE_GH"])
needs_input = "--body-file" in words
given = sys.stdin.read() if needs_input else ""
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps({"words": words, "given": given}) + "\n")
store = folder / "issues.json"
issues = json.loads(store.read_text()) if store.exists() else []


def option(name):
    return words[words.index(name) + 1]


def one():
    return next(issue for issue in issues if issue["number"] == int(words[2]))


match words[:2]:
    case ["api", "repos/{owner}/{repo}"]:
        print('{"default_branch": "main"}')
    case ["api", _]:
        print((folder / "artifacts.json").read_text())
    case ["run", "download"]:
        shutil.copytree(folder / "artifacts" / words[2] / option("--name"), option("--dir"))
    case ["label", "create"]:
        (folder / "label").write_text(words[2])
    case ["issue", "list"]:
        assert option("--state") == "all"
        fields = option("--json").split(",")
        print(json.dumps([{name: i[name] for name in fields} for i in issues if option("--label") in i["labels"]]))
    case ["issue", "create"]:
        assert option("--label") == (folder / "label").read_text()
        issues.append(
            {"number": len(issues) + 1, "title": option("--title"), "body": given, "state": "OPEN", "comments": []}
            | {"stateReason": "", "labels": [option("--label")]}
        )
        print(f"https://example.org/issues/{len(issues)}")
    case ["issue", "edit"]:
        one().update(title=option("--title"), body=given)
    case ["issue", "comment"]:
        one()["comments"].append(given)
    case ["issue", "close"]:
        one().update(state="CLOSED", stateReason="COMPLETED")
    case ["issue", "reopen"]:
        one().update(state="OPEN", stateReason="REOPENED")
    case _:
        sys.exit(f"gh: unknown command {words}")
store.write_text(json.dumps(issues))
