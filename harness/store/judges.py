"""Judged: by which suites and known failures runs are read: this checkout's, or those that a person names.

What a run says of them is compared, and never imported or opened: a run may come from anywhere.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tf_opdiff.harness.paths import KNOWN, SUITES
from tf_opdiff.harness.store.rundir import RunInfo


@dataclass(frozen=True)
class JudgedBy:
    """The module of the suites, and the file of known failures, relative to the repository."""

    suites: str = SUITES
    known: str = KNOWN

    def other(self, info: RunInfo) -> str:
        """In what a run says that it was judged by others, in one line; empty where it does not."""
        pairs = [("--suites", info.suites, self.suites), ("--known", info.known, self.known)]
        differing = [(option, was, now) for option, was, now in pairs if was and was != now]
        return "; ".join(
            f"run {info.run} names {was!r}, which is not used: expected {now!r}, or {option} {was!r} from you"
            for option, was, now in differing
        )


#: This checkout's own.
OURS = JudgedBy()


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options by which a person names others."""
    told = "what a run names is used only where it is named here"
    parser.add_argument("--suites", default=SUITES, metavar="MODULE", help=f"default: {SUITES}; {told}")
    parser.add_argument("--known", default=KNOWN, metavar="FILE", help=f"default: {KNOWN}; {told}")
