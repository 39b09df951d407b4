"""Completion: the verb that prints a script by which a shell completes verbs and options."""

from __future__ import annotations

import argparse

import shtab


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness completion`."""
    parser.add_argument("shell", metavar="SHELL", choices=shtab.SUPPORTED_SHELLS, help="bash, zsh or tcsh")


def main(options: argparse.Namespace) -> int:
    """Prints the script of a shell, for the command `tf-opdiff`."""
    parser: argparse.ArgumentParser = options.whole_parser()
    parser.prog = "tf-opdiff"
    print(shtab.complete(parser, options.shell))
    return 0
