"""A run's wall time over that of a bare script that makes the same TensorFlow calls on the same plans.

The run has the items of every sixteenth spec of the default tier, by name, without sweeps, which have a benchmark of
their own.
Bare: one process builds the same programs and runs them on the same inputs as often, with gradients, and compares
nothing. The run: `pytest --no-cache` from its start to the written report, without programs of findings. Both leave
out cases on which TensorFlow dies or hangs.
`one` is one worker and its device server, `two` are two workers with their servers.
Tried without success: xdist's workers that start before the run opens, while TensorFlow is imported. Of six items of
`Floor`, runs took 12.7 s in place of 12.2 s with one worker, and 11.2 s in place of 11.5 s with two (means of four runs
each, taken in turns): the two cores are busy with the imports of all processes either way.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import apart, timed_run
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.repeat import cut_arguments
from tf_opdiff.harness.device.request import Arguments, Request
from tf_opdiff.harness.device.rows import alone, beside_special, compared_rows
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.paths import KNOWN, ROOT
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.spec import Spec

#: Every 16th spec is run.
STEP = 16
_PLANS = [Plan(Device("cpu"), mode) for mode in MODES]


def chosen() -> list[Item]:
    """The items of every `STEP`th spec of the default tier; without those on which a plan is known to crash or hang."""
    catalog = Catalog.load("tf_opdiff.suites")
    entries = known_files.load(ROOT / KNOWN, catalog).entries
    lethal = {n for e in entries if e.kind in NO_ANSWER for n in ([e.spec] if isinstance(e.spec, str) else e.spec)}
    items = catalog.select()
    names = sorted({item.spec.name for item in items})[::STEP]
    return [item for item in items if item.spec.name in {*names} - lethal]


def requests(items: list[Item]) -> list[Request]:
    """The requests of a run to its device server."""
    all_requests = []
    for item in items:
        plans = [plan for plan in _PLANS if plan.mode in item.spec.modes]
        for case in item.cases:
            try:
                running = RunningCase.of(item, case, plans)
            except ReferenceFault:
                continue
            all_requests += [running.request(plan) for plan in plans]
    return all_requests


def of_rows(spec: Spec, arguments: Arguments, again: Sequence[str]) -> Iterator[Arguments]:
    """The arguments of the self-checks of the rows of a batch."""
    if spec.batch is not None:
        count = next(len(x) for i, x in enumerate(arguments.inputs) if i not in spec.batch)
        changes = [change for kind, change in (("batch", alone), ("leak", beside_special)) if kind in again]
        yield from (change(arguments, spec.batch, row) for change in changes for row in compared_rows(count))


def bare(path: Path) -> float:
    """Seconds that the TensorFlow calls of the pickled requests take, the import included."""
    asked: list[Request] = pickle.loads(path.read_bytes())
    begin = time.perf_counter()
    from tf_opdiff.harness.device.installation.tensorflow_setup import configure
    from tf_opdiff.harness.device.programs.evidence import Evidence
    from tf_opdiff.harness.device.programs.modes import MODES as PROGRAMS
    from tf_opdiff.harness.device.repeat import in_pieces
    from tf_opdiff.harness.device.request import attempts, find_spec

    class Mute(Evidence):
        """No evidence is wanted: there is some already, and no more is taken in."""

        def note_graph(self, graph: Any, outputs: int) -> None:
            pass

        def note_outputs(self, outputs: Any, inputs: Any) -> None:
            pass

    device = Device("cpu")
    configure(device)
    built: dict[Any, Any] = {}
    of: Any = None

    def run(spec: Spec, mode: str, arguments: Arguments, pieces: bool) -> None:
        key = (mode, pieces, arguments.signature, bool(spec.derivatives.jvp), bool(spec.derivatives.hvp))
        if key not in built or spec.execution.state:
            mute = Mute(ops={"": None}, ran_on={"": set()})
            built[key] = PROGRAMS[mode](in_pieces(spec) if pieces else spec, device.tf_name, mute)
        built[key](arguments)

    for r in asked:
        if of != (r.spec, r.dtype):
            of, built = (r.spec, r.dtype), {}
        whole = find_spec(r.module, r.spec)
        for spec, arguments in attempts(whole, Arguments(r.inputs, r.upstreams, r.tangents)):
            try:
                run(spec, r.mode, arguments, False)
            except Exception:  # noqa: BLE001, S112  a refusal, which the run makes a record of
                continue
            if "nondeterministic" in r.again:
                run(spec, r.mode, arguments, False)
            if "position" in r.again:
                run(spec, r.mode, cut_arguments(arguments), True)
            for other in of_rows(spec, arguments, r.again):
                with contextlib.suppress(Exception):
                    run(spec, r.mode, other, False)
            break
    return time.perf_counter() - begin


def rows() -> list[dict[str, object]]:
    """The row of the table."""
    items = chosen()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "requests")
        with np.errstate(all="ignore"):
            asked = requests(items)
        path.write_bytes(pickle.dumps(asked))
        alone = float(apart("-m", "bench.measurements.overhead", str(path)))
        specs = [*dict.fromkeys(item.spec.name for item in items)]
        one, two = (timed_run(Path(folder, str(n)), specs, "--no-cache", workers=n) for n in (1, 2))
    return [
        {
            "items": len(items),
            "runs of a case": len(asked),
            "bare, s": alone,
            "one, s": one,
            "one / bare (goal 1.15)": one / alone,
            "two, s": two,
            "one / two (goal 1.8)": one / two,
        }
    ]


if __name__ == "__main__":
    print(bare(Path(sys.argv[1])))
