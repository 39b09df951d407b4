"""Discover command: `discover sqrt Max --for 30m` from the shell."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tf_opdiff.discover.report import lines, write_report
from tf_opdiff.discover.search import Search
from tf_opdiff.discover.state import State
from tf_opdiff.harness.device.installation.probe import probe
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.run_directories.open_run import require
from tf_opdiff.harness.system.interrupt import Scratch

_TIME = re.compile(r"(\d{1,6})([smh])")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def time_limit(text: str) -> float:
    """The seconds in a text such as `90s`, `30m` or `2h`.

    Raises:
      argparse.ArgumentTypeError: the text has another form.
    """
    match = _TIME.fullmatch(text)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 90s, 30m or 2h, got {text!r}")
    return float(int(match[1]) * _UNITS[match[2]])


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness discover`."""
    parser.add_argument("op", nargs="*", help="an op, a spec or a family, such as Max or softmax; default: all")
    parser.add_argument(
        "--for", dest="seconds", type=time_limit, default="10m", metavar="TIME", help="90s, 30m or 2h; default: 10m"
    )
    parser.add_argument("--device", default="cpu", metavar="D", help="the device; default: cpu")
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path("discovered"),
        metavar="DIR",
        help="the folder of the search, which goes on from there; default: discovered",
    )
    parser.add_argument(
        "--against-known", action="store_true", help="show the groups that known causes explain as well"
    )


def main(options: argparse.Namespace) -> int:
    """Searches; prints the groups; 1 if there is one that no known cause explains."""
    device = Device.parse(options.device)
    catalog = Catalog.load(SUITES)
    types = {op for name in options.op for spec in catalog.named(name) for op in catalog.specs[spec].every_op}
    require([device], probe()["devices"])
    state = State.load(options.dir)
    with Scratch() as logs:
        search = Search(state, device, logs, types, progress=progress)
        try:
            search.run(options.seconds)
        finally:
            write_report(state)
            print(*lines(state, known=options.against_known), sep="\n")
    return 1 if any(group.state == "new" for group in state.groups.values()) else 0


def progress(sentence: str) -> None:
    """Writes a sentence, in a line of its own."""
    print(f"… {sentence}", file=sys.stderr, flush=True)
