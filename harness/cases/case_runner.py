"""Case runner: runs the cases of items under plans, on device servers or from stored observations, and judges them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tf_opdiff.harness.cases.item_judge import ItemJudge
from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.verdicts.trial import Context
from tf_opdiff.harness.repro.program_text.program_digest import digest
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.cell_lines import CellLine, CellWriter


class Stored(Protocol):
    """The stored observations of a device, such as a `harness.store.recordings.recording.Recording`."""

    def observation(self, request: Request, program: str) -> Observation:
        """The observation for a request and the digest of a program, or one that says why there is none."""

    def without_arrays(self, case: str, mode: str) -> bool:
        """Whether the records of a case were stored in place of its observation."""

    def records(self, case: str, mode: str, program: str, asked: str = "") -> tuple[list[Record], str]:
        """The records of a case without an observation; if there are none, the reason."""


@dataclass
class CaseRunner:
    """Runs and judges the cases of items: request, run, observe, judge, records.

    Attributes:
      plans: cases run under those that run their spec.
      servers: the devices that run.
      stored: the devices whose stored observations are judged in place of a run.
      only: case ids; no other case runs, unless empty.
      cache: inputs and promises of earlier runs; without one, all are computed.
    """

    context: Context
    plans: Sequence[Plan]
    servers: Mapping[Device, DeviceServer] = field(default_factory=dict)
    stored: Mapping[Device, Stored] = field(default_factory=dict)
    only: Collection[str] = ()
    cache: PromiseCache | None = None
    _last_program: tuple[str, str] = ("", "")

    def run(self, item: Item, writer: CellWriter) -> None:
        """Runs the cases of an item, without its sweeps; gives the lines of their cells to `writer`.

        An observation is judged when it comes in; those of one case are compared when the last one has come.
        """

        def start(device: Device, request: Request) -> None:
            writer.start(request.case, str(device), request.mode)

        running = _RunningItem(self, item, self.judge(item), writer)
        for device, request, observation in run_all(self.servers, running.batches(), start):
            running.observed(Plan(device, request.mode), request, observation)

    def judge(self, item: Item) -> ItemJudge:
        """Judges the cases of an item."""
        return ItemJudge(self.context, item, self.program(item))

    def program(self, item: Item) -> str:
        """The digest of the program of the item's spec; the last one is kept, because it is slow to compute."""
        name, program = self._last_program
        if name != item.spec.name:
            program = digest(item.spec)
            self._last_program = item.spec.name, program
        return program

    def restored(self, judge: ItemJudge, case: Case, plan: Plan, asked: str = "") -> Iterator[CellLine]:
        """The lines of a cell of a stored device that has records in place of its observation."""
        records = self.stored[plan.device].records(case.id, plan.mode, judge.program, asked)
        return judge.restored(case, plan, *records, asked)


@dataclass
class _RunningItem:
    """An item while its cases run; `cases` has those that wait for an observation, by id."""

    setup: CaseRunner
    item: Item
    judge: ItemJudge
    writer: CellWriter
    cases: dict[str, RunningCase] = field(default_factory=dict)

    def batches(self) -> Iterator[Mapping[Device, Sequence[Request]]]:
        """The requests of each case to the devices that run; a case is computed when its requests are taken.

        Cases whose reference failed, and observations that are stored, need no device: they are judged here.
        """
        plans = [plan for plan in self.setup.plans if self.item.spec.runs_under(plan)]
        for case in {case.id: case for case, _ in planned(self.item, plans, self.setup.only)}.values():
            try:
                running = RunningCase.of(self.item, case, plans, self.setup.cache)
            except ReferenceFault as error:
                self._add(self.judge.broken(case, plans, str(error)))
                continue
            self.cases[case.id] = running
            yield self._requests(running, plans)

    def _requests(self, running: RunningCase, plans: Sequence[Plan]) -> Mapping[Device, Sequence[Request]]:
        """The requests of a case to the devices that run; judges those observations of the case that are stored."""
        requests: dict[Device, list[Request]] = defaultdict(list)
        observed: list[tuple[Plan, Request]] = []
        for plan in plans:
            request, stored = self._request(running, plan), self.setup.stored.get(plan.device)
            if stored and stored.without_arrays(running.case.id, plan.mode):
                self._add(self.setup.restored(self.judge, running.case, plan, request.digest))
                del running.expected[plan]
            elif stored:
                observed.append((plan, request))
            else:
                requests[plan.device].append(request)
        for plan, request in observed:
            stored = self.setup.stored[plan.device]
            self.observed(plan, request, stored.observation(request, self.judge.program))
        return requests

    def _request(self, running: RunningCase, plan: Plan) -> Request:
        """The request of a case under a plan; the last of its server if the op is known to damage memory."""
        context = self.setup.context
        tf = context.origin(str(plan.device)).tf
        return replace(running.request(plan), last=context.known.damages_memory(running.case, plan, tf))

    def observed(self, plan: Plan, request: Request, observation: Observation) -> None:
        """Judges an observation; after the last one of its case, compares them, and the case ends."""
        running = self.cases[request.case]
        running.observations[plan] = observation
        lines = [self.judge.result(running, plan, request.digest)]
        self._add(lines)
        if running.complete:
            lines += self.judge.compared(running)
            self._add(lines[1:])
            del self.cases[request.case]
        running.failing |= any(record.failing for line in lines for record in line.records)
        cache = self.setup.cache
        if running.complete and running.failing and cache and running.differs_from(cache):
            message = "its stored inputs or promises differ from fresh ones, and were deleted; run it again"
            self._add(self.judge.broken(running.case, [*running.expected], message))

    def _add(self, lines: Iterator[CellLine] | Sequence[CellLine]) -> None:
        for line in lines:
            self.writer.add(line)
