"""Command line: the verbs of `tf-opdiff VERB`, in a checkout `python -m harness VERB`, and their exit statuses.

It stands above `harness` and `reports`: it knows both, and neither of them knows it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import textwrap
from collections.abc import Collection, Generator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.system.interrupt import STATUS, Interrupts
from tf_opdiff.harness.system.terminal import guarded, safe
from tf_opdiff.verbs import GROUPS, VERBS


class _Parser(argparse.ArgumentParser):
    """A parser that answers wrong usage with one line."""

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong; ends with the status of argparse, which `main` replaces."""
        self.exit(2, f"{self.prog}: error: {safe(' '.join(message.split()))}\n")


class _Help(argparse.RawDescriptionHelpFormatter):
    """The help of the command line, which lists the verbs in groups of its own."""

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action, None, None]:
        yield from ()


def program() -> str:
    """The words with which the command line begins, as the user wrote them."""
    return "tf-opdiff" if Path(sys.argv[0]).stem == "tf-opdiff" else "python -m harness"


def parser(whole: Collection[str]) -> argparse.ArgumentParser:
    """The parser of the command line; only the verbs in `whole` have their options, because they import modules."""
    top = _Parser(
        prog=program(),
        description="Differential testing of TensorFlow ops.",
        epilog=_grouped(),
        formatter_class=_Help,
    )
    top.add_argument("--version", action="version", version=f"tf-opdiff {_version()}")
    verbs = top.add_subparsers(
        dest="verb", required=True, metavar="VERB", help="see below; VERB --help has its options"
    )
    functions = {"write_report": write_report, "run_verb": main, "run_verb_apart": run_apart}
    for name, verb in VERBS.items():
        sub = verbs.add_parser(name, help=verb.help, description=verb.help)
        if name in whole:
            view = import_module(verb.module)
            view.add_options(sub)
            sub.set_defaults(main=view.main, whole_parser=partial(parser, VERBS), **functions)
    return top


def _version() -> str:
    """The version of the installed package; `unknown` in a checkout that is not installed."""
    try:
        return version("tf-opdiff")
    except PackageNotFoundError:
        return "unknown"


def _grouped() -> str:
    """The verbs with their help, by who needs them."""
    lines = []
    for title, names in GROUPS.items():
        lines += [f"{title}:"]
        for name in names:
            lines += textwrap.wrap(VERBS[name].help, 96, initial_indent=f"  {name:12}", subsequent_indent=" " * 14)
        lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a verb; returns the exit status: 0, 1 where something differs, 2 if interrupted, 4 for wrong usage."""
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] not in (*VERBS, "-h", "--help", "--version"):
        late = words[0].startswith("-")
        reason = f"expected a verb first, got {words[0]!r}" if late else unknown("verb", words[0], set(VERBS))
        print(f"{program()}: {safe(reason)}; --help lists them all", file=sys.stderr)
        return 4
    try:
        options = parser(words[:1]).parse_args(words)
    except SystemExit as end:  # argparse ends with 2, which here means an interrupted run
        return 4 if end.code else 0
    with guarded():
        try:
            return options.main(options)
        except KeyboardInterrupt:
            print(f"{program()} {options.verb}: interrupted", file=sys.stderr)
            return STATUS
        except SystemExit as end:
            print(f"{program()} {options.verb}: the code under test called sys.exit({end.code!r})", file=sys.stderr)
            return 4
        except (LookupError, ValueError, RuntimeError, OSError) as error:
            print(f"{program()} {options.verb}: {_reason(error)}", file=sys.stderr)
            return 4


def _reason(error: Exception) -> object:
    """What an exception says, without the number of an error of the system."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return error.args[0] if len(error.args) == 1 else error


def run() -> int:
    """Runs the verb that the command line names, in a process that signals interrupt; returns the exit status."""
    Interrupts().install()
    return main()


def write_report(directory: Path) -> None:
    """Writes the report of a run, in a process of its own, which gives its memory back.

    Raises:
      RuntimeError: the report can't be written; the process has printed the reason.
    """
    command = [sys.executable, "-m", "tf_opdiff.reports", str(directory.absolute())]
    if status := subprocess.run(command, check=False, cwd=ROOT).returncode:
        raise RuntimeError(f"{directory}: the report can't be written: its process ended with status {status}")


def run_apart(words: Sequence[str]) -> tuple[int, str]:
    """Runs a verb in a process of its own; returns the exit status and what it wrote to stderr."""
    command = [sys.executable, "-m", "tf_opdiff", *words]
    env = {k: v for k, v in os.environ.items() if k not in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True, errors="replace")
    return done.returncode, done.stderr
