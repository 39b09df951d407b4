"""Matrix: the verb that prints the jobs of a night, or runs one."""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system.interrupt import run_child
from tf_opdiff.reports.ci import generated
from tf_opdiff.reports.ci.matrix import LEFT, chosen, jobs, load, smoke
from tf_opdiff.reports.data import files


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness matrix` takes."""
    parser.epilog = "$NIGHTLY_MACHINES names the machines, with commas between; default: those that the data says."
    parser.add_argument("--job", metavar="JOB", help="run this one, here; its exit status is that of pytest")
    parser.add_argument("--write", action="store_true", help="write tox.ini's environments and the documents' tables")


def main(options: argparse.Namespace) -> int:
    """Prints the jobs of a night as JSON, and for GitHub's Actions where they ask; or runs one; or writes the parts."""

    matrix = load()
    if options.write:
        for name, wanted in generated.parts(matrix).items():
            files.replace_text(ROOT / name, generated.written((ROOT / name).read_text(), wanted))
        return 0
    if options.job:
        every = [m.name for m in matrix.machine]
        there = {job.name: job for job in [*jobs(matrix, every), *smoke(matrix, chosen())]}
        if options.job not in there:
            raise LookupError(f"job {options.job!r}: expected one of {', '.join(there)}")
        job = there[options.job]
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")  # runs of many nights stand beside each other in histories
        kept = [f"--run-dir={LEFT}/{job.name}/{job.name}-{stamp}"] if job.group else []
        command = [sys.executable, "-m", "tox", "-e", job.tox, "--", *job.arguments, *kept]
        return run_child(command, ROOT)
    told = {"run": jobs(matrix, chosen()), "smoke": smoke(matrix, chosen())}
    print(json.dumps(msgspec.to_builtins(told), indent=1))
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a") as file:
            file.writelines(f"{name}={msgspec.json.encode(rows).decode()}\n" for name, rows in told.items())
    return 0
