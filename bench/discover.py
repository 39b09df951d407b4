"""Discover: what a search finds, and how many hidden known causes it finds again.

`python -m bench discover [--for 10m] [--hidden]` is a check of the verb `discover`, and writes no table to a document.
It searches on the CPU from seed 0, and prints programs, calls, differences, groups and behaviours, each also for a
minute. With `--hidden`, the entries of 60 older causes are hidden from the search; it prints which of them a group
would have been recognised as. `hidden_causes.txt` has them: of the causes about the CPU that are about a `tf.function`
or XLA and not about eager mode, the first 60 by a hash of their ids. Nobody chose them, so nobody can tune the search
to them.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from tf_opdiff.discover.command import progress, time_limit
from tf_opdiff.discover.group import ALIKE, KNOWN, NEW, UNSTABLE
from tf_opdiff.discover.search import Search, recognised
from tf_opdiff.discover.state import State
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, admits
from tf_opdiff.harness.paths import KNOWN as FILES
from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device

HIDDEN = Path(__file__).with_name("hidden_causes.txt")
_COUNT = 60


def eligible(entries: Iterable[Entry]) -> list[str]:
    """The ids of the causes about the CPU and a compiled mode, and not about eager mode, in the order of their hash."""
    compiled, eager = set[str](), set[str]()
    tf = version("tensorflow")
    for entry in entries:
        if entry.selects({"device": "cpu"}, tf) and entry.trait == EVERY:
            eager |= {entry.cause.id} if admits(entry.mode, "eager") else set()
            compiled |= {entry.cause.id} if any(admits(entry.mode, mode) for mode in ("function", "xla")) else set()
    return sorted(compiled - eager, key=lambda id: hashlib.blake2b(id.encode()).hexdigest())


def hidden() -> list[str]:
    """The ids of the hidden causes."""
    return HIDDEN.read_text("utf-8").split()


def measured(seconds: float, causes: Sequence[str], folder: Path) -> list[str]:
    """Lines about a search of so many seconds that does not know some causes."""
    search = Search(State.load(folder / "state"), Device("cpu"), folder, hidden=causes, settle=False, progress=progress)
    search.run(seconds)
    state = search.state
    groups = state.groups.values()
    found = sum(count for name, count in state.counts.items() if name in state.groups)
    rows = {name: state.counts[name] for name in ("programs", "calls")}
    rows |= {"differences": found, "groups": len(groups)}
    rows |= {name: sum(group.state == name for group in groups) for name in (NEW, ALIKE, KNOWN, UNSTABLE)}
    rows["behaviours"] = len(state.behaviours)
    lines = [f"{name}: {count}, {60 * count / seconds:.3g} a minute" for name, count in rows.items()]
    lines.append(f"programs for a difference: {rows['programs'] / max(found, 1):.3g}")
    if causes:
        again = recognised(search)
        lines.append(f"found again: {len(again)} of {len(causes)} hidden causes: {', '.join(sorted(again)) or 'none'}")
    return lines


def main(words: Sequence[str]) -> int:
    """Runs what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench discover")
    parser.add_argument("--for", dest="seconds", type=time_limit, default="10m", metavar="TIME")
    parser.add_argument("--hidden", action="store_true", help="hide the causes of hidden_causes.txt")
    parser.add_argument("--choose", action="store_true", help="print the causes to hide, and nothing else")
    options = parser.parse_args(words)
    if options.choose:
        known = known_files.load(ROOT / FILES, Catalog.load(SUITES))
        print("\n".join(eligible(known.entries)[:_COUNT]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        print(*measured(options.seconds, hidden() if options.hidden else (), Path(folder)), sep="\n")
    return 0
