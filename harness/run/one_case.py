"""One case: run under some plans, and printed for a person."""

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
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.probe import probe
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.server_handle import DeviceServer
from tf_opdiff.harness.judge.compare import compare, summary
from tf_opdiff.harness.judge.known import Known
from tf_opdiff.harness.judge.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.judge.want import Want
from tf_opdiff.harness.judge.wording import sentence
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.outcome import Outcome
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.run.running_case import RunningCase
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES, Device, Plan, PlanName
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.spec.variant import ONEDNN
from tf_opdiff.harness.store.open_run import require
from tf_opdiff.harness.store.shard import Shard
from tf_opdiff.harness.system.interrupt import Scratch


def show(item: Item, case: Case, plans: Sequence[Plan], servers: Mapping[Device, DeviceServer]) -> int:
    """Prints inputs, promises and observations of a case under the given plans; 1 if an observation differs, else 0.

    An observation may differ from its promise, or from a self-check of the same run (see `harness.device.repeat`).

    Raises:
      ReferenceFault: the case's reference failed.
    """
    print(f"case {case.id}, seed {case.seed:016x}")
    for i, x in enumerate(case.inputs()):
        print(f"input[{i}] {_array(x)}")
    running = RunningCase.of(item, case, plans)
    requests: dict[Device, list[Request]] = {plan.device: [] for plan in plans}
    for plan in plans:
        requests[plan.device].append(running.request(plan))
    differs = False
    for device, request, observation in run_all(servers, [requests], lambda *_: None):
        plan = Plan(device, request.mode)
        running.observations[plan] = observation
        fault = f", {observation.fault}" if observation.fault else ""
        print(f"\n{plan}: ran on {observation.ran_on or '?'}, ops {observation.raw_op or '?'}{fault}")
        for quantity, want in running.expected[plan].wants.items():
            result = observation.quantities[quantity]
            comparison = compare(result, want, quantity, budget=case.spec.budget(quantity, case.dtype, plan.mode))
            differs |= bool(comparison.kind)
            print(f"  {quantity}: {comparison.kind or 'as promised'}")
            print(f"    got  {_result(result)}\n    want {_want(want)}")
        differs |= _show_self_checks(running, plan)
    return int(differs)


def _show_self_checks(running: RunningCase, plan: Plan) -> bool:
    """Prints the self-checks that failed: other bits, another value in another place, a changed input."""
    observation = running.observations[plan]
    trial = Trial(running.item.suite, running.case, plan, observation, running.inputs)
    records = Judge(_no_known_failures()).against_itself(trial, running.expected[plan].wants)
    failing = [record for record in records if record.verdict == "mismatch"]
    for record in failing:
        print(f"  {record.quantity}: {record.kind}, {sentence(record)}")
        for quantity, result in observation.again.get(record.kind, {}).items():
            if record.kind == "input_mutated" or quantity == record.quantity:
                print(f"    then {quantity} {_result(result)}")
    return bool(failing)


def _no_known_failures() -> Context:
    return Context(run="", started="", here=Origin(version("tensorflow")), known=Known())


def scripts(
    item: Item,
    case: Case,
    plans: Sequence[Plan],
    servers: Mapping[Device, DeviceServer],
    catalog: Catalog,
    folder: Path,
) -> list[Outcome]:
    """Writes and runs a script for each discrepancy of a case, known failures included, in a folder."""
    context = _no_known_failures()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as shards:
        shard = Shard(Path(shards) / "repro.jsonl")
        runner = Runner(context, plans, servers, shard, Slots(servers), [case.id], case.recipe in SWEEPS)
        try:
            records = runner.run(item)
        finally:
            runner.close()
    differing = [r for r in records if r.verdict == "mismatch" and r.against in ("numpy", r.plan)]
    return reproduce(differing, Setting(catalog=catalog, tf=context.here.tf, folder=folder))


def issue(outcome: Outcome, folder: Path, machine: Mapping[str, Any]) -> str:
    """The body of an upstream issue in Markdown: versions, the program, its output with expected and actual values.

    `machine` is the result of `harness.device.probe.probe` on this machine.
    """
    program = (folder / Path(outcome.script).name).read_text() if outcome.script else ""
    versions = machine["versions"]
    facts = {
        "TensorFlow": versions["tensorflow"],
        "CUDA": machine["cuda"] or "none: no GPU here",
        "oneDNN": machine["devices"]["cpu"][ONEDNN],
        "NumPy": versions["numpy"],
        "Python": versions["python"],
        "OS": platform.platform(),
        "Devices": ", ".join(machine["devices"]),
    }
    output = outcome.output or "nothing"
    return "\n".join(
        [
            f"### {outcome.spec}: {outcome.kind.replace('_', ' ')} in {outcome.quantity}, mode {outcome.mode}",
            "",
            *(f"- {name}: {value}" for name, value in facts.items()),
            "",
            "The program below exits with 1 if the result differs from the expected one, and with 0 if it does not.",
            "",
            f"````\n{output}\n````",
            "",
            f"````python\n{program}````",
            "",
        ]
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness repro`."""
    parser.add_argument("case", metavar="CASE", help="a case id, as failures print it")
    parser.add_argument("--plan", action="append", metavar="DEVICE/MODE", help="default: every mode on cpu")
    script = "for each discrepancy, write a program into DIR that needs only TensorFlow and NumPy, and run it"
    parser.add_argument("--script", type=Path, metavar="DIR", help=script)
    parser.add_argument("--issue", type=Path, metavar="FILE", help="write the body of an upstream issue")


def main(options: argparse.Namespace) -> int:
    """Runs one case; prints its inputs, promises and observations."""
    catalog = Catalog.load(SUITES)
    item = next((i for i in catalog.items if any(c.id == options.case for c in i.cases)), None)
    if item is None:
        raise LookupError(unknown("case", options.case, set(catalog.cases)))
    plans = []
    for text in options.plan or [f"cpu/{mode}" for mode in item.spec.modes]:
        name = PlanName.parse(text)
        if name is None or name.mode not in MODES:
            raise ValueError(f"plan {text!r}: expected DEVICE/MODE, mode one of {', '.join(MODES)}")
        plans.append(Plan(Device.parse(name.device), name.mode))
    case, folder = catalog.cases[options.case], options.script
    with Scratch() as logs:
        if any(plan.device.type != "cpu" for plan in plans):
            require([plan.device for plan in plans], probe()["devices"])
        servers = {d: DeviceServer(d, logs) for d in {p.device for p in plans}}
        try:
            status = show(item, case, plans, servers)
            outcomes = scripts(item, case, plans, servers, catalog, folder or logs) if folder or options.issue else []
        finally:
            for server in servers.values():
                server.stop()
        for outcome in outcomes:
            place = f"{outcome.quantity} on {outcome.device}/{outcome.mode}, {outcome.kind}"
            print(f"\n{place}: {outcome.status}" + (f", {outcome.script}" if folder else ""))
        if options.issue and outcomes:
            best = next((o for o in outcomes if o.status == "reproduced"), outcomes[0])
            options.issue.write_text(issue(best, folder or logs, probe()))
            print(f"\nthe body of an issue is in {options.issue}")
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
