"""Repro: one case, run and printed for a person."""

from __future__ import annotations

import argparse
import platform
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.device.locks import Slots
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.probe import probe
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.server_handle import DeviceServer
from tf_opdiff.harness.judge.compare import compare, summary
from tf_opdiff.harness.judge.expectation import Want, expectations
from tf_opdiff.harness.judge.known import Known
from tf_opdiff.harness.judge.verdict import Context, Origin, Trial, rejudge, sentence
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.reproduce import Outcome, Setting, reproduce
from tf_opdiff.harness.run.runner import Runner, request
from tf_opdiff.harness.spec.catalog import Catalog, Item, unknown
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.spec.variant import ONEDNN
from tf_opdiff.harness.store.open_run import require
from tf_opdiff.harness.store.record import Shard
from tf_opdiff.harness.system.interrupt import Scratch


def show(item: Item, case: Case, plans: Sequence[Plan], servers: Mapping[Device, DeviceServer]) -> int:
    """Prints inputs, promises and observations of a case under the given plans; 1 if one differs, else 0.

    An observation may differ from its promise, or from itself when it is made again (see `harness.device.repeat`).

    Raises:
      ReferenceFault: the case's reference failed.
    """
    inputs = case.inputs()
    print(f"case {case.id}, seed {case.seed:016x}")
    for i, x in enumerate(inputs):
        print(f"input[{i}] {_array(x)}")
    expected = expectations(case, inputs, list(plans))
    requests: dict[Device, list[Request]] = {plan.device: [] for plan in plans}
    for plan in plans:
        requests[plan.device].append(request(item, case, plan, inputs, expected[plan]))
    differs = 0
    for device, asked, seen in run_all(servers, requests, lambda *_: None):
        plan = Plan(device, asked.mode)
        print(
            f"\n{plan}: ran on {seen.ran_on or '?'}, ops {seen.raw_op or '?'}"
            + (f", {seen.fault}" if seen.fault else "")
        )
        for quantity, want in expected[plan].wants.items():
            got = seen.quantities[quantity]
            found = compare(got, want, quantity, budget=case.spec.budget(quantity, case.dtype))
            differs |= bool(found.kind)
            print(f"  {quantity}: {found.kind or 'as promised'}")
            print(f"    got  {_result(got)}\n    want {_want(want)}")
        differs |= _show_again(item, case, plan, seen, expected[plan].wants, inputs)
    return int(differs)


def _show_again(
    item: Item, case: Case, plan: Plan, seen: Observation, wants: Mapping[str, Want], inputs: Sequence[np.ndarray]
) -> bool:
    """Prints what came again, where that fails: other bits, another value in another place, a changed input."""
    records = rejudge(Trial(_nothing_known(), item.suite, case, plan, seen, inputs), wants)
    failing = [record for record in records if record.verdict == "mismatch"]
    for record in failing:
        print(f"  {record.quantity}: {record.kind}, {sentence(record)}")
        for quantity, result in seen.again.get(record.kind, {}).items():
            if record.kind == "input_mutated" or quantity == record.quantity:
                print(f"    then {quantity} {_result(result)}")
    return bool(failing)


def _nothing_known() -> Context:
    return Context(run="", started="", here=Origin(version("tensorflow")), known=Known())


def scripts(
    item: Item,
    case: Case,
    plans: Sequence[Plan],
    servers: Mapping[Device, DeviceServer],
    catalog: Catalog,
    folder: Path,
) -> list[Outcome]:
    """Writes and runs the script of each discrepancy of a case, those included that are known, in a folder."""
    nothing = _nothing_known()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as shards:
        shard = Shard(Path(shards) / "repro.jsonl")
        runner = Runner(nothing, plans, servers, shard, Slots(servers), [case.id], case.recipe in SWEEPS)
        try:
            records = runner.run(item)
        finally:
            runner.close()
    differing = [r for r in records if r.verdict == "mismatch" and r.against in ("numpy", r.plan)]
    return reproduce(differing, Setting(catalog=catalog, tf=nothing.here.tf, folder=folder))


def issue(outcome: Outcome, folder: Path, there: Mapping[str, Any]) -> str:
    """The body of an upstream issue in Markdown: versions, the program, what was expected, what came.

    `there` is what `harness.device.probe.probe` says of this machine.
    """
    program = (folder / Path(outcome.script).name).read_text() if outcome.script else ""
    versions = there["versions"]
    facts = {
        "TensorFlow": versions["tensorflow"],
        "CUDA": there["cuda"] or "none: no GPU here",
        "oneDNN": there["devices"]["cpu"][ONEDNN],
        "NumPy": versions["numpy"],
        "Python": versions["python"],
        "OS": platform.platform(),
        "Devices": ", ".join(there["devices"]),
    }
    said = outcome.output or "nothing"
    return "\n".join(
        [
            f"### {outcome.spec}: {outcome.kind.replace('_', ' ')} in {outcome.quantity}, mode {outcome.mode}",
            "",
            *(f"- {name}: {value}" for name, value in facts.items()),
            "",
            "The program below exits with 1 while what came differs from what was expected, with 0 once it does not.",
            "",
            f"````\n{said}\n````",
            "",
            f"````python\n{program}````",
            "",
        ]
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness repro`."""
    parser.add_argument("case", metavar="CASE", help="a case id, as failures print it")
    parser.add_argument("--plan", action="append", metavar="DEVICE/MODE", help="default: every mode on cpu")
    told = "write a program of TensorFlow and NumPy alone for each discrepancy there, and run it"
    parser.add_argument("--script", type=Path, metavar="DIR", help=told)
    parser.add_argument("--issue", type=Path, metavar="FILE", help="write the body of an upstream issue")


def main(options: argparse.Namespace) -> int:
    """Runs one case and prints inputs, what was promised and what came."""
    catalog = Catalog.load(SUITES)
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


def _array(array: np.ndarray) -> str:
    text = np.array2string(array, threshold=200, floatmode="unique")
    return f"{array.dtype.name}{list(array.shape)} {text}".replace("\n", "\n      ")


def _result(result: Result) -> str:
    if result.value is None:
        return f"{summary(result)} {result.message}".strip()
    return f"{result.status} {_array(result.value)}" + (
        "" if result.indices is None else f" at {result.indices.tolist()}"
    )


def _want(want: Want) -> str:
    if want.raises is not None:
        return f"error {want.raises.code} {want.raises.says}".strip()
    return want.status if want.value is None else f"{want.status} {_array(want.value.astype(want.dtype))}"
