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
from tf_opdiff.reports.ci.jobs import jobs, requested_machines, smoke
from tf_opdiff.reports.ci.matrix import RUNS, Matrix, load
from tf_opdiff.reports.data.run_data import files


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness matrix`."""
    parser.epilog = "$NIGHTLY_MACHINES names the machines, separated by commas; default: those of the data file."
    parser.add_argument("--job", metavar="JOB", help="run this job here; exits as pytest does")
    parser.add_argument("--write", action="store_true", help="write tox.ini's environments and the documents' tables")


def main(options: argparse.Namespace) -> int:
    """Prints the jobs of a night as JSON, and for GitHub's Actions; or runs a job; or writes the generated parts."""
    matrix = load()
    if options.write:
        for name, parts in generated.parts(matrix).items():
            files.replace_text(ROOT / name, generated.written((ROOT / name).read_text(), parts))
        return 0
    if options.job:
        return _run(options.job, matrix)
    by_tier = {"run": jobs(matrix, requested_machines()), "smoke": smoke(matrix, requested_machines())}
    print(json.dumps(msgspec.to_builtins(by_tier), indent=1))
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a") as file:
            file.writelines(f"{name}={msgspec.json.encode(rows).decode()}\n" for name, rows in by_tier.items())
    return 0


def _run(name: str, matrix: Matrix) -> int:
    """Runs a job on this machine; returns the exit status of pytest."""
    all_jobs = [*jobs(matrix, [machine.name for machine in matrix.machine]), *smoke(matrix, requested_machines())]
    by_name = {job.name: job for job in all_jobs}
    if name not in by_name:
        raise LookupError(f"job {name!r}: expected one of {', '.join(by_name)}")
    job = by_name[name]
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")  # a history folder holds the runs of many nights
    run_dir = [f"--run-dir={RUNS}/{job.name}/{job.name}-{stamp}"] if job.group else []
    return run_child([sys.executable, "-m", "tox", "-e", job.tox, "--", *job.arguments, *run_dir], ROOT)
