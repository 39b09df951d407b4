"""Night: the verb that merges the runs of a night's jobs, compares them with last night's and writes the pages."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import secrets
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.ci import gh, github
from tf_opdiff.reports.ci.jobs import Job, jobs, requested_machines
from tf_opdiff.reports.ci.matrix import load as load_matrix
from tf_opdiff.reports.ci.overview import Group, cells, html, markdown, status
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.summary import plain
from tf_opdiff.reports.write import rewrite

#: Folders of a night's output: `merged` is stored until the next night, `site` is published.
MERGED, SITE = "merged", "site"
#: Files of a run that are not published: they are large, and no page needs them.
UNPUBLISHED = ("shards", "logs", "recordings", "observations.parquet", "history")
#: The number of nights whose history is stored.
NIGHTS = 90


class Verbs(NamedTuple):
    """Two ways to run a verb: `here` in this process, and `apart` in a process of its own, whose stderr is returned."""

    here: Callable[[Sequence[str]], int]
    apart: Callable[[Sequence[str]], tuple[int, str]]

    def view(self, *words: str) -> tuple[int, str]:
        """Runs a verb, printed as a person would type it; returns its status and the last line of its stderr.

        Whatever goes wrong in the verb costs its own page only.
        """
        print("+ python -m harness", shlex.join(words), flush=True)
        stderr = io.StringIO()
        try:
            with contextlib.redirect_stderr(stderr):
                status = self.here(words)
        except Exception:  # noqa: BLE001  whatever it is, it is reported, and the other pages are written
            stderr.write(traceback.format_exc())
            status = 3
        return status, _last(stderr.getvalue())

    def merge(self, runs: Sequence[Path], into: Path) -> tuple[int, str]:
        """Runs `merge`, which ends as pytest does, in a process of its own; returns what `view` does."""
        words = ["merge", *map(str, runs), f"--run-dir={into}"]
        print("+ python -m harness", shlex.join(words), flush=True)
        status, stderr = self.apart(words)
        return status, _last(stderr)


def night(planned: Sequence[Job], left: Path, out: Path, last: Path, run: str, verbs: Verbs) -> list[Group]:
    """Merges each group's runs, compares them with last night's, and has their history written.

    Args:
      planned: the jobs of the night.
      left: a folder with a folder for each finished job, which holds its runs; the newest run counts.
      out: the output folder; each group gets a folder with `run`, `diff.html`, `history.html` and `history/`.
      last: the output folder of the night before; may be absent.
      run: the name of tonight's runs.
      verbs: how verbs are run.
    """
    groups = {
        name: Group(name, [j for j in planned if j.group == name]) for name in dict.fromkeys(j.group for j in planned)
    }
    for group in groups.values():
        folder = out / group.name
        folder.mkdir(parents=True)
        _merge(group, left, folder / run, verbs)
        _keep_history(last / group.name / "history", folder / "history")
        if group.run:
            before = newest(last / group.name)
            if before:
                told = [f"--{kind}={folder}/diff.{end}" for kind, end in (("html", "html"), ("markdown", "md"))]
                told += [f"--noise={folder}"] if any((folder / "history").glob("*.parquet")) else []
                status, said = verbs.view("diff", str(before), str(folder / run), "--bits", *told)
                compared = status in (0, 1) and (folder / "diff.md").exists()
                group.worse = bool(status) if compared else None
                group.faults += [] if compared else [f"not compared with last night: {said}"]
            status, said = verbs.view("history", str(folder), f"--html={folder}/history.html")
            group.faults += [f"there is no history: {said}"] if status else []
        if group.faults:
            group.status = 3
    return list(groups.values())


def _merge(group: Group, left: Path, into: Path, verbs: Verbs) -> None:
    """Makes one run of those that a group's jobs left, and notes how it stands.

    What jobs left may hold anything: this checkout writes every page, from the data of their runs.
    """
    runs = []
    for job in group.jobs:
        try:
            run = newest(left / job.name)
            runs += [untrusted.without_links(run)] if run else []
            group.faults += [] if run else [f"job {job.name} left no run"]
        except (OSError, ValueError) as why:
            group.faults.append(f"job {job.name} left no run that can be read: {why}")
    if len(runs) == 1:
        try:
            rewrite(runs[0], into)
        except (OSError, ValueError) as why:
            shutil.rmtree(into, ignore_errors=True)
            group.faults.append(f"the run can't be read: {why}")
    elif runs:
        status, said = verbs.merge(runs, into)
        group.faults += [f"merge ended with status {status}: {said}"] if status > 1 else []
    if not (into / "run.json").exists():
        return
    try:
        info, records = RunInfo.load(into), load(into)
    except (OSError, ValueError) as why:
        group.faults.append(f"the run can't be read: {why}")
        return
    group.run, group.status, group.tf = into.name, 3 if info.exit_status is None else info.exit_status, info.tf
    group.counts = tables.counts(records)
    group.says = sentence.of_run(info, group.counts, brief=True)
    group.faults += sentence.shortfalls(info)
    group.devices = [name for name, about in info.devices.items() if about.get("asked")]


def _keep_history(before: Path, into: Path) -> None:
    """Takes over what is kept of the runs of the nights before; the names of runs sort by their time."""
    into.mkdir()
    for path in sorted(before.glob("*.parquet"))[-NIGHTS:]:
        shutil.copy2(path, into, follow_symlinks=False)


def newest(folder: Path) -> Path | None:
    """The run directory in a folder that was begun last."""
    found = [(RunInfo.load(path.parent).started, path.parent) for path in folder.glob("*/run.json")]
    return max(found)[1] if found else None


def _last(said: str) -> str:
    sys.stderr.write(said)
    return plain(said.strip().rpartition("\n")[2], 300) or "it said nothing"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness night` takes."""
    parser.epilog = "$NIGHTLY_MACHINES names the machines of the night, as for `python -m harness matrix`."
    parser.add_argument(
        "jobs", type=Path, metavar="DIR", help="where jobs left their runs, each in a folder of its name"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="a new folder; gets merged/ and site/")
    parser.add_argument("--last", type=Path, metavar="DIR", help="what merged/ was last night")
    parser.add_argument("--fetch", action="store_true", help="get --last from the newest night on GitHub, by gh")


def main(options: argparse.Namespace) -> int:
    """Makes the night's runs, comparisons and pages; 0, 1 where something differs or got worse, 3 with a fault."""
    planned = jobs(load_matrix(), requested_machines())
    if options.fetch and not options.last:
        raise ValueError("--fetch: expected --last, the folder to be made of it")
    if not options.jobs.is_dir():
        raise NotADirectoryError(f"{options.jobs}: expected a folder with the runs of jobs")
    out, run = options.out / MERGED, f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    out.mkdir(parents=True)
    faults = []
    if options.fetch:
        try:
            print(f"last night: {gh.fetch('night', options.last) or 'there is none'}")
        except (OSError, ValueError, KeyError) as error:
            faults.append(f"last night can't be had: {error}")
    unknown = {path.name for path in options.jobs.iterdir() if path.is_dir()} - {job.name for job in planned}
    faults += [f"{name} is no job of this night" for name in sorted(unknown)]
    verbs = Verbs(options.run_verb, options.run_verb_apart)
    groups = night(planned, options.jobs, out, options.last or Path(os.devnull), run, verbs)
    files.replace_text(out / "index.html", html(groups, faults, run, out))
    files.replace_text(out / "summary.md", markdown(groups, faults, out))
    shutil.copytree(out, options.out / SITE, ignore=shutil.ignore_patterns(*UNPUBLISHED))
    github.summarise(out / "summary.md", os.environ)
    for text in faults:
        print(f"fault: {plain(text, 300)}")
    for group in groups:
        print(plain(" | ".join(filter(None, cells(group))), 200))
        for text in group.faults:
            print(f"  fault: {plain(text, 300)}")
    return status(groups, faults)
