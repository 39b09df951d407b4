"""Campaign command: the verb that runs items on a Ray cluster."""

from __future__ import annotations

import argparse
import os
import sys

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.campaigns import cluster
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness campaign`: its own, and those of pytest."""
    about = "the address of a Ray cluster; default: one of this machine alone, started for this campaign"
    parser.add_argument("--address", metavar="HOST:PORT", dest=CAMPAIGN.name, default=cluster.LOCAL, help=about)
    for option in OPTIONS:
        parser.add_argument(option.flag, **option.settings)


def main(options: argparse.Namespace) -> int:
    """Replaces this process by a pytest session whose items run on the cluster; exits with the status of a run."""
    words = [sys.executable, "-m", "pytest", *words_of(options), str(ROOT / "suites")]
    sys.stdout.flush()
    os.execv(sys.executable, words)
    return 0


def words_of(options: argparse.Namespace) -> list[str]:
    """The options as words of pytest's command line."""
    words = []
    for name in dict.fromkeys(option.name for option in (CAMPAIGN, *OPTIONS)):
        value, flag = getattr(options, name), "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value not in (None, False):
            words += [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return words
