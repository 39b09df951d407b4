"""One case: run under some plans, and printed for a person."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.installation.probe import probe
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.judge.differences.compare import compare, summary
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.repro.trials.attribute import attribute
from tf_opdiff.harness.repro.upstream_issue import UpstreamIssue, shortest
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES, Device, Plan, PlanName
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.open_run import facts_of, require
from tf_opdiff.harness.store.shards.shard import Shard
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
    differs = False
    for plan in running.run(plans, servers):
        observation = running.observations[plan]
        fault = f", {observation.fault}" if observation.fault else ""
        print(f"\n{plan}: ran on {observation.ran_on or '?'}, ops {observation.raw_op or '?'}{fault}")
        for quantity, want in running.expected[plan].wants.items():
            result = observation.quantities[quantity]
            comparison = compare(result, want, quantity)
            differs |= bool(comparison.kind)
            print(f"  {quantity}: {comparison.kind or 'as promised'}")
            print(f"    got  {_result(result)}\n    want {_want(want)}")
        differs |= _show_self_checks(running, plan)
    return int(differs)


def _show_self_checks(running: RunningCase, plan: Plan) -> bool:
    """Prints the self-checks that failed: other bits, another value in another place, a changed input."""
    observation = running.observations[plan]
    records = Judge(_no_known_failures()).against_itself(running.trial(plan), running.expected[plan].wants)
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
    known: Known,
    setting: Setting,
) -> list[tuple[Record, Outcome]]:
    """Writes and runs a script for each discrepancy of a case, known failures included, with its record."""
    setting.folder.mkdir(parents=True, exist_ok=True)
    with Scratch() as shards:
        shard = Shard(shards / "repro.jsonl")
        context = Context(run="", started="", here=Origin(setting.tf), known=known)
        cases = CaseRunner(context, plans, servers, only=[case.id])
        runner = Runner(cases, shard, Slots(servers), sweeps=case.recipe in SWEEPS)
        try:
            records = runner.run(item)
        finally:
            runner.close()
    differing = [r for r in records if r.verdict in ("mismatch", "known") and r.against in ("numpy", r.plan)]
    return list(zip(differing, reproduce(differing, setting), strict=True))


def issue(record: Record, outcome: Outcome, known: Known, setting: Setting) -> str:
    """The text of an upstream issue in Markdown about a record: its shortest program, or that of its outcome."""
    if outcome.status == "reproduced":
        script = (setting.folder / Path(outcome.script).name).read_text()
    else:
        script = f"# No program of its own shows it: {outcome.why}"
    program, output = shortest(setting.discrepancy(record), record, setting.folder) or (script, outcome.output)
    (attribution,) = attribute({record.case: record}, setting)
    cause = known.causes.get(record.cause.partition(";")[0])
    return UpstreamIssue(record, program, output, cause, attribution.switch).text(probe())


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness repro`."""
    parser.add_argument("case", metavar="CASE", help="a case id, as failures print it")
    parser.add_argument("--plan", action="append", metavar="DEVICE/MODE", help="default: every mode on cpu")
    script = "for each discrepancy, write a program into DIR that needs only TensorFlow and NumPy, and run it"
    parser.add_argument("--script", type=Path, metavar="DIR", help=script)
    parser.add_argument("--issue", type=Path, metavar="FILE", help="write the text of an upstream issue")


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
    known = known_files.load(ROOT / KNOWN, catalog) if folder or options.issue else Known()
    with Scratch() as logs:
        setting = Setting(catalog=catalog, tf=version("tensorflow"), folder=folder or logs)
        if known.entries or any(plan.device.type != "cpu" for plan in plans):
            listed = probe()["devices"]
            require([plan.device for plan in plans], listed)
            known = known.on({str(plan.device): facts_of(plan.device, listed) for plan in plans})
        servers = {d: DeviceServer(d, logs) for d in {p.device for p in plans}}
        try:
            status = show(item, case, plans, servers)
            outcomes = scripts(item, case, plans, servers, known, setting) if folder or options.issue else []
        finally:
            for server in servers.values():
                server.stop()
        for _, outcome in outcomes:
            place = f"{outcome.quantity} on {outcome.device}/{outcome.mode}, {outcome.kind}"
            print(f"\n{place}: {outcome.status}" + (f", {outcome.script}" if folder else ""))
        if options.issue and outcomes:
            best = next((pair for pair in outcomes if pair[1].status == "reproduced"), outcomes[0])
            options.issue.write_text(issue(*best, known, setting))
            print(f"\nthe text of an issue is in {options.issue}")
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
