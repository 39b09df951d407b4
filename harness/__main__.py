"""Verbs: `python -m harness VERB`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from harness.catalog import Catalog, unknown
from harness.devices import DeviceServer, probe
from harness.interrupt import STATUS, Interrupts, Scratch
from harness.opening import require
from harness.plan import MODES, Device, Plan
from harness.repro import issue, scripts, show
from harness.score import scores
from harness.sweep.command import add_options, sweep
from harness.terminal import guarded


def devices(options: argparse.Namespace) -> int:
    """Prints what TensorFlow lists here."""
    print(json.dumps(probe(), indent=1))
    return 0


def coverage(options: argparse.Namespace) -> int:
    """Prints what is covered: ops, dtypes, modes and cases of every spec."""
    catalog = Catalog.load("suites")
    families = {item.spec.name: item.suite for item in catalog.items}
    for name, spec in catalog.specs.items():
        ops = sorted({op for mode in spec.modes for op in spec.ops_in(mode)})
        print(f"{families[name]:14} {name:34} {';'.join(ops) or '-':30} {len(spec.dtypes):2} dtypes", end=" ")
        print(f"{len(spec.cases()):4} cases  {' '.join(spec.modes)}{'  with gradient' if spec.vjp else ''}")
    print(f"{len(catalog.specs)} specs, {len(catalog.items)} items, {len(catalog.cases)} cases")
    return 0


def score(options: argparse.Namespace) -> int:
    """Prints killed/possible mutants for every spec; fails where one is alive."""
    alive = 0
    for name, found in scores(Catalog.load("suites")).items():
        left = found.alive
        alive += len(left)
        print(
            f"{len(found.possible) - len(left):3}/{len(found.possible):<3} {name}"
            + "".join(f"\n        alive: {m}" for m in left)
        )
    return 1 if alive else 0


def repro(options: argparse.Namespace) -> int:
    """Runs one case and prints inputs, what was promised and what came."""
    catalog = Catalog.load("suites")
    found = next((i for i in catalog.items if any(c.id == options.case for c in i.cases)), None)
    if found is None:
        raise LookupError(unknown("case", options.case, set(catalog.cases)))
    plans = []
    for text in options.plan or [f"cpu/{mode}" for mode in found.spec.modes]:
        device, _, mode = text.partition("/")
        if mode not in MODES:
            raise ValueError(f"plan {text!r}: expected DEVICE/MODE, mode one of {', '.join(MODES)}")
        plans.append(Plan(Device.parse(device), mode))
    case, folder = catalog.cases[options.case], options.script
    with Scratch() as logs:
        if any(plan.device.type != "cpu" for plan in plans):
            require([plan.device for plan in plans], probe()["devices"])
        servers = {d: DeviceServer(d, logs) for d in {p.device for p in plans}}
        try:
            status = show(found, case, plans, servers)
            outcomes = scripts(found, case, plans, servers, catalog, folder or logs) if folder or options.issue else []
        finally:
            for server in servers.values():
                server.stop()
        for outcome in outcomes:
            place = f"{outcome.quantity} on {outcome.device}/{outcome.mode}, {outcome.kind}"
            print(f"\n{place}: {outcome.status}" + (f", {outcome.script}" if folder else ""))
        if options.issue and outcomes:
            best = next((o for o in outcomes if o.status == "reproduced"), outcomes[0])
            options.issue.write_text(issue(best, folder or logs, probe()))
            print(f"\nthe body of an issue: {options.issue}")
    return status


#: Verbs that have a module of their own, with `add_options(parser)` and `main(options)`; of most it is `reports.VERB`.
#: It is imported when it is asked for, since pandas takes its time.
LATE = {"campaign": "harness.campaign", "node": "harness.node", "merge": "harness.merging", "record": "harness.keeping"}
VIEWS = {
    "campaign": "Runs items on many machines, by Ray: the options are those of pytest; exits as a run does.",
    "node": "Starts Ray on this machine, as the head of a cluster or as one of its nodes.",
    "record": "Keeps what a run observed of its devices, to be compared with others: --device NAME@TENSORFLOW.",
    "merge": "Makes one run of several, with the comparisons between their devices; exits as a run does.",
    "claims": "Prints the verdicts on claims that a run found.",
    "table": "Prints or writes a table of what a run found: by op, plan, kind, and more.",
    "diff": "Tells what changed between two runs, and in what they differ.",
    "history": "Shows the verdicts of a folder of runs over time: what changed, what is flaky.",
    "issues": "Opens, updates and closes an issue on GitHub for each cause of failures in runs.",
    "matrix": "Prints the jobs of a night as JSON, or runs one.",
    "night": "Makes what the jobs of a night left into merged runs, what changed since last night, and pages.",
    "suggest": "Writes known.toml entries for what fails in a run, and finds those that are spent.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a verb; returns the exit status: 0, 1 where something differs, 2 if interrupted, 4 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m harness", description="Differential testing of TensorFlow ops.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in (coverage, devices, repro, score, sweep):
        sub = verbs.add_parser(verb.__name__, help=verb.__doc__, description=verb.__doc__)
        sub.set_defaults(main=verb)
        if verb is repro:
            sub.add_argument("case", metavar="CASE", help="a case id, as failures print it")
            sub.add_argument("--plan", action="append", metavar="DEVICE/MODE", help="default: every mode on cpu")
            told = "write a program of TensorFlow and NumPy alone for each discrepancy there, and run it"
            sub.add_argument("--script", type=Path, metavar="DIR", help=told)
            sub.add_argument("--issue", type=Path, metavar="FILE", help="write the body of an upstream issue")
        if verb is sweep:
            add_options(sub)
    words = sys.argv[1:] if arguments is None else arguments
    for name, about in VIEWS.items():
        sub = verbs.add_parser(name, help=about, description=about)
        if name in words[:1]:
            view = import_module(LATE.get(name, f"reports.{name}"))
            view.add_options(sub)
            sub.set_defaults(main=view.main)
    try:
        options = parser.parse_args(words)
    except SystemExit as end:  # 2, of wrong usage, means here that a run was interrupted
        return 4 if end.code else 0
    with guarded():
        try:
            return options.main(options)
        except KeyboardInterrupt:
            print(f"python -m harness {options.verb}: interrupted", file=sys.stderr)
            return STATUS
        except (LookupError, ValueError, RuntimeError, OSError) as error:
            says = error.args[0] if len(error.args) == 1 else error
            print(f"python -m harness {options.verb}: {says}", file=sys.stderr)
            return 4


if __name__ == "__main__":
    Interrupts().install()
    sys.exit(main())
