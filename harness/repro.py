"""Repro: one case, run and printed for a person."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from harness.catalog import Catalog, Item
from harness.compare import compare, summary
from harness.devices import DeviceServer, run_all
from harness.expect import Want, expectations
from harness.known import Known
from harness.observation import Observation, Result
from harness.plan import Device, Plan
from harness.record import Shard
from harness.reproduce import Outcome, Setting, reproduce
from harness.request import Request
from harness.run import Runner, request
from harness.slots import Slots
from harness.spec import SWEEPS, Case
from harness.variant import ONEDNN
from harness.verdict import Context, Origin, Trial, rejudge, sentence


def show(item: Item, case: Case, plans: Sequence[Plan], servers: Mapping[Device, DeviceServer]) -> int:
    """Prints inputs, promises and observations of a case under the given plans; 1 if one differs, else 0.

    An observation may differ from its promise, or from itself when it is made again (see `harness.again`).

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

    `there` is what `harness.devices.probe` says of this machine.
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
