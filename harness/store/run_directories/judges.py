"""Judges: the suites and known failures that judge runs: this checkout's, or those that a person names.

The names in a run are only compared. They are never imported or opened, because a run may be untrusted.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tf_opdiff.harness.paths import KNOWN, SUITES
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

#: Names in runs of earlier checkouts → their names today.
_FORMER = {"suites": SUITES, "suites/known.toml": KNOWN}


@dataclass(frozen=True)
class JudgedBy:
    """The module of the suites, and the file or folder of known failures, relative to the repository."""

    suites: str = SUITES
    known: str = KNOWN

    def other(self, info: RunInfo) -> str:
        """One line that says which other suites or known failures a run names; empty if it names these."""
        pairs = [("--suites", info.suites, self.suites), ("--known", info.known, self.known)]
        differing = [(option, was, now) for option, was, now in pairs if was and now not in (was, _FORMER.get(was))]
        return "; ".join(
            f"run {info.run} names {was!r}, which is not used: expected {now!r}, or {option} {was!r} from you"
            for option, was, now in differing
        )


#: The suites and known failures of this checkout.
OURS = JudgedBy()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name other suites and known failures."""
    rule = "other names in a run are used only if given here too"
    parser.add_argument("--suites", default=SUITES, metavar="MODULE", help=f"default: {SUITES}; {rule}")
    parser.add_argument("--known", default=KNOWN, metavar="PATH", help=f"default: {KNOWN}; {rule}")
