"""Checker: a process next to the user's. It computes promises without TensorFlow, owns the device servers, and judges.

The user's process has imported TensorFlow, may hold a GPU and set flags; nothing here depends on that.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tf_opdiff.checking.condition.bounds import bounds
from tf_opdiff.checking.failure_words import how
from tf_opdiff.checking.overrides.request import OverrideAnswer, OverrideRequest
from tf_opdiff.checking.overrides.runner import OverrideRunner
from tf_opdiff.checking.overrides.subject import own_subject, suite_subject
from tf_opdiff.checking.recorded import relabelled
from tf_opdiff.checking.request import CheckAnswer, CheckRequest
from tf_opdiff.checking.slope_check import SlopeCheck
from tf_opdiff.checking.specs import OwnSpec
from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.installation.probe import probe
from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.device.programs.dependence import ignoring
from tf_opdiff.harness.device.request import Arguments, Request
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.upstream import random_upstreams
from tf_opdiff.harness.judge.verdicts.trial import Origin
from tf_opdiff.harness.judge.verdicts.verdict import Context
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.inputs.pickled import SUFFIX, write_specs
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.quantity import family_of, named
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.open_run import require
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.system.interrupt import Scratch

#: The plan whose results are the promise where the user gives none.
BASE = Plan(Device("cpu"), "eager")
#: Seconds after which a checker without a check looks whether another worker waits for its slots.
_IDLE = 0.5


class CheckProblem(Exception):
    """A check can't be made; the message says why."""


class Checker:
    """Runs checks, one after another; its device servers stay up between them."""

    def __init__(self, folder: Path) -> None:
        """`folder` is for the files of checks, and for logs."""
        self._folder = folder
        self._servers: dict[tuple[Device, float], DeviceServer] = {}
        self._slots = Slots(())

    def answer(self, request: CheckRequest | OverrideRequest) -> CheckAnswer | OverrideAnswer:
        """Runs a check."""
        try:
            if isinstance(request, OverrideRequest):
                return self._override(request)
            return CheckAnswer(tuple(self._records(request)))
        except (CheckProblem, ReferenceFault, LookupError, ValueError, RuntimeError, TypeError) as why:
            problem = str(why.args[0] if len(why.args) == 1 else why)
            return (OverrideAnswer if isinstance(request, OverrideRequest) else CheckAnswer)(problem=problem)

    def wait(self) -> None:
        """While no check runs: ends the device servers if another worker waits for one of their slots."""
        if self._slots.release_if_wanted():
            self._stop()

    def close(self) -> None:
        """Ends the device servers, and gives their slots back."""
        self._stop()

    def _stop(self) -> None:
        for server in self._servers.values():
            server.stop()
        self._slots.release()

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return probe()

    def _server(self, device: Device, timeout: float) -> DeviceServer:
        key = device, timeout
        if key not in self._servers:
            self._servers[key] = DeviceServer(device, self._folder, timeout=timeout, memory=memory_limit(device))
        return self._servers[key]

    def slots_on(self, devices: Sequence[Device]) -> Slots:
        """This checker's slots on devices; like the servers, it keeps them for the next check on these devices."""
        slots = Slots(devices)
        if slots.keys != self._slots.keys:
            self._stop()
            self._slots = slots
        return self._slots

    def _records(self, request: CheckRequest) -> Iterator[Record]:
        devices = [Device.parse(name) for name in request.devices or self._machine["devices"]]
        require(devices, self._machine["devices"])
        self.slots_on(devices)
        plans = [Plan(device, mode) for device in devices for mode in request.modes]
        origin = Origin(self._machine["versions"]["tensorflow"], self._machine["cuda"])
        context = Context(run="check", started="", here=origin, known=Known())
        with tempfile.TemporaryDirectory(dir=self._folder) as path:
            folder = Path(path)
            own = OwnSpec.of(request, folder)
            slopes = own.slope_check(BASE)
            outputs = self._record(own, folder / f"base{SUFFIX}", request, slopes)
            servers = {device: self._server(device, request.timeout) for device in devices}
            cases = CaseRunner(context, plans, servers)
            records = list(self._promised(own, outputs, cases, folder / f"own{SUFFIX}"))
            if any(record.failing and record.kind == "value" for record in records) and (
                allowed := bounds(own, folder / f"base{SUFFIX}", request.timeout)
            ):
                own.spec = own.spec.but(bound={**own.spec.tolerance.bound, **allowed})
                records = list(self._promised(own, outputs, cases, folder / f"bounded{SUFFIX}"))
            yield from records
            if slopes:
                yield from slopes.records
                if slopes.untested:
                    raise CheckProblem(f"{own.spec.name}: {slopes.untested}")

    def _promised(self, own: OwnSpec, outputs: int, cases: CaseRunner, module: Path) -> Iterator[Record]:
        """The records of the callable and its twins; their specs are written to a file.

        Raises:
          CheckProblem: the reference fails.
        """
        write_specs(module, specs := own.promising(outputs))
        for spec in specs:
            records = self._run(cases, Item(str(module), spec, spec.dtypes[0]))
            if broken := next((r for r in records if r.kind == "reference"), None):
                raise CheckProblem(broken.detail)
            yield from relabelled(records, own.recorded, str(BASE))

    def _override(self, request: OverrideRequest) -> OverrideAnswer:
        """Runs a check of an override, once this checker has its slots."""
        devices = [Device.parse(name) for name in request.devices or self._machine["devices"]]
        require(devices, self._machine["devices"])

        def run(device: Device, one: Request) -> Observation:
            servers = {device: self._server(device, request.timeout)}
            ((_, _, observation),) = run_all(servers, [{device: [one]}], lambda *_: None)
            return observation

        with tempfile.TemporaryDirectory(dir=self._folder) as path:
            subject = own_subject(request, Path(path)) if request.functions else suite_subject(request.name)
            self.slots_on(devices).acquire()
            try:
                results = tuple(OverrideRunner(subject, request, devices, run).results())
            finally:
                self.wait()
        return OverrideAnswer(subject.title, results)

    def _run(self, cases: CaseRunner, item: Item) -> list[Record]:
        """The records of an item, once this checker has its slots; gives them back if another worker waits for one."""
        writer = CellWriter()
        self._slots.acquire()
        try:
            cases.run(item, writer)
        finally:
            self.wait()
        return writer.records

    def _record(self, own: OwnSpec, module: Path, request: CheckRequest, slopes: SlopeCheck | None) -> int:
        """Runs the callable under the base plan, and keeps its results as promises; returns the number of outputs.

        `slopes` compares its gradients with differences of the reference.

        Raises:
          CheckProblem: the callable fails, and the user gives no reference; or it ignores its inputs. An output may
            ignore them if another one does not.
        """
        write_specs(module, [own.spec])
        count, constant = 0, True
        for case in own.spec.cases():
            inputs = case.inputs()
            first, upstreams = self._observed(module, case, inputs, None, request.timeout), None
            outputs = [r for q, r in first.quantities.items() if family_of(q) == "output"]
            broken = next((r for r in outputs if r.status not in ("value", "sparse")), None)
            constant &= broken is None and len(ignoring(first.fault)) == len(outputs)
            if broken is None:
                count = len(outputs)
                if "grad" in own.recorded:
                    upstreams = random_upstreams([r.value for r in outputs if r.value is not None], case)
                if upstreams:
                    first = self._observed(module, case, inputs, upstreams, request.timeout)
                    if slopes:
                        slopes.add(case, inputs, upstreams, first)
            elif "output" in own.recorded:
                why = f"{own.spec.name} fails in eager mode on the CPU: {how(broken)}"
                raise CheckProblem(f"{why}; without a reference, its result there is the promise")
            for kept in own.recorded.values():
                kept.add(inputs, first)
            own.runs.append(Arguments(inputs, upstreams))
        if count and constant:
            raise CheckProblem(f"{own.spec.name}: no output depends on the input, so no input can show a difference")
        return count

    def _observed(self, module: Path, case: Case, inputs: Any, upstreams: Any, timeout: float) -> Observation:
        """The observation of a case under the base plan."""
        grads = named("grad", len(inputs)) if upstreams else ()
        request = Request(
            module=str(module),
            spec=case.spec.name,
            case=case.id,
            dtype=case.dtype,
            mode=BASE.mode,
            inputs=inputs,
            upstreams=upstreams,
            quantities=("output[0]", *grads),
        )
        servers = {BASE.device: self._server(BASE.device, timeout)}
        ((_, _, observation),) = run_all(servers, [{BASE.device: [request]}], lambda *_: None)
        return observation


def main() -> None:
    """Answers requests on the descriptor that the command line names, until the other side closes it."""
    end = Connection(int(sys.argv[1]))
    fork_server.start_early()
    with Scratch() as folder:
        checker = Checker(folder)
        try:
            while True:
                while not end.poll(_IDLE):
                    checker.wait()
                end.send(checker.answer(end.recv()))
        except EOFError:
            pass
        finally:
            checker.close()
            fork_server.stop_early()


if __name__ == "__main__":
    main()
