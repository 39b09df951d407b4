"""Runner: runs items, each with all its cases under all its plans, on this machine's device servers."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tf_opdiff.harness.device.locks import Slots
from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.server_handle import DeviceServer
from tf_opdiff.harness.judge.comparison import Comparison
from tf_opdiff.harness.judge.error_bins import profiles
from tf_opdiff.harness.judge.promise_cache import PromiseCache
from tf_opdiff.harness.judge.reference import ReferenceFault
from tf_opdiff.harness.judge.unseen import first_of_place, plant
from tf_opdiff.harness.judge.verdict import Context, Judge, Trial, comparisons
from tf_opdiff.harness.judge.want import Want
from tf_opdiff.harness.repro.program_digest import digest
from tf_opdiff.harness.run.running_case import RunningCase
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.store.shard import Shard
from tf_opdiff.harness.sweep import tally_rows, workers
from tf_opdiff.harness.sweep.pieces import patterns
from tf_opdiff.harness.sweep.sweep import Sweep

if TYPE_CHECKING:  # it imports pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recording import Recording


def planned(
    item: Item, plans: Sequence[Plan], only: Collection[str] = (), *, sweeps: bool = False
) -> list[tuple[Case, Plan]]:
    """The cells of an item: each case (or only those with the ids in `only`) under each plan that runs its spec."""
    cases = [c for c in (*item.cases, *(item.sweeps if sweeps else ())) if not only or c.id in only]
    return [(case, plan) for case in cases for plan in plans if item.spec.runs_under(plan)]


@dataclass
class Runner:
    """Runs items on the device servers of one worker, and appends their records to that worker's shard.

    Attributes:
      only: case ids; no other case runs, unless empty.
      sweeps: whether sweeps of every input of a 16-bit dtype run too.
      recordings: recorded devices; their observations are judged like those of a device that runs.
      cache: inputs and promises of earlier runs; without one, all are computed.
      done, notes: see `ItemsRunner`.
    """

    context: Context
    plans: Sequence[Plan]
    servers: Mapping[Device, DeviceServer]
    shard: Shard
    slots: Slots
    only: Collection[str] = ()
    sweeps: bool = False
    recordings: Mapping[Device, Recording] = field(default_factory=dict)
    done: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    cache: PromiseCache | None = None
    _last_program: tuple[str, str] = ("", "")
    _places: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def judge(self) -> Judge:
        """Makes the records of the run."""
        return Judge(self.context)

    def plan(self, items: Sequence[Item]) -> None:
        """Writes the items that will run to the shard."""
        self.shard.write("plan", items=[item.id for item in items])

    def run(self, item: Item) -> list[Record]:
        """Runs an item, unless it is done; returns all its records.

        An observation is judged when it comes in; those of one case are compared when the last one has come.
        """
        if item.id in self.done:
            return list(self.done[item.id])
        self.slots.acquire()
        began = time.monotonic()
        try:
            return self._run(item) + (self._sweep(item) if self.sweeps else [])
        finally:
            self.shard.write("item", item=item.id, seconds=round(time.monotonic() - began, 3))
            if self.slots.release_if_wanted():
                self._stop()

    def _run(self, item: Item) -> list[Record]:
        cases: dict[str, RunningCase] = {}
        records: list[Record] = []
        self._places.clear()
        batches = self._batches(item, cases, records)
        for device, request, observation in run_all(self.servers, batches, self._write_start):
            records += self._observed(cases, Plan(device, request.mode), request, observation)
        return records

    def _batches(
        self, item: Item, cases: dict[str, RunningCase], records: list[Record]
    ) -> Iterator[Mapping[Device, Sequence[Request]]]:
        """The requests of each case to the devices that run; a case is computed when its requests are taken.

        Adds each case to `cases`. Adds to `records` those that need no device: of a case whose reference failed, and
        of recorded devices.
        """
        plans = [plan for plan in self.plans if item.spec.runs_under(plan)]
        for case in {case.id: case for case, _ in planned(item, plans, self.only)}.values():
            try:
                running = RunningCase.of(item, case, plans, self.cache)
            except ReferenceFault as error:
                records += self._broken(item, case, plans, str(error))
                continue
            cases[case.id] = running
            requests: dict[Device, list[Request]] = defaultdict(list)
            recorded: list[tuple[Plan, Request]] = []
            for plan in plans:
                request, recording = self._request(running, plan), self.recordings.get(plan.device)
                if recording and recording.without_arrays(case.id, plan.mode):
                    records += self._restored(item, case, plan, request.digest)
                    del running.expected[plan]
                elif recording:
                    recorded.append((plan, request))
                else:
                    requests[plan.device].append(request)
            for plan, request in recorded:
                observation = self.recordings[plan.device].observation(request, self._program(item))
                records += self._observed(cases, plan, request, observation)
            yield requests

    def _request(self, running: RunningCase, plan: Plan) -> Request:
        """The request of a case under a plan; the last of its server if the op is known to damage memory."""
        tf = self.context.origin(str(plan.device)).tf
        return replace(running.request(plan), last=self.context.known.damages_memory(running.case, plan, tf))

    def _observed(
        self, cases: dict[str, RunningCase], plan: Plan, request: Request, observation: Observation
    ) -> list[Record]:
        """The records of an observation; after the last one of its case, those of the case too, which then ends."""
        running = cases[request.case]
        running.observations[plan] = observation
        records = self._judged(running, plan, request.digest)
        if running.complete:
            records += self._compared(running)
            del cases[request.case]
        running.failing |= any(record.failing for record in records)
        if running.complete and running.failing and self.cache and running.differs_from(self.cache):
            message = "its stored inputs or promises differ from fresh ones, and were deleted; run it again"
            return self._broken(running.item, running.case, [*running.expected], message)
        return records

    def _judged(self, running: RunningCase, plan: Plan, digest: str) -> list[Record]:
        """The records of an observation against its promise and against claims; `digest` is the request's."""
        trial, wants = running.trial(plan), dict(running.expected[plan].wants)
        compared = comparisons(trial, wants)
        records = [self.judge.decide(trial, quantity, comparison) for quantity, comparison in compared.items()]
        if any(record.kind for record in records):
            running.differing.add(plan)
            known = [record.quantity for record in records if record.verdict in ("known", "mismatch")]
            running.known_wrong[plan] = {q: self.judge.explained(trial, q, compared[q]) for q in known}
            records = [self._planted(record, trial, wants, compared) for record in records]
        records += self.judge.against_claims(trial, running.claims, wants)
        program, observation = self._program(running.item), trial.observation.to_json()
        errors = {quantity: profile.to_json() for quantity, profile in profiles(trial, wants, compared).items()}
        more = {"observation": observation, "asked": digest, "program": program}
        self._write("result", running.case, plan, records, **more, **({"errors": errors} if errors else {}))
        return records

    def _planted(
        self, record: Record, trial: Trial, wants: Mapping[str, Want], compared: Mapping[str, Comparison]
    ) -> Record:
        """The record, with the outcome of planted faults if it is the first of its known failure in the item."""
        quantity = record.quantity
        if quantity not in wants or not first_of_place(record, self._places):
            return record
        return plant(self.judge, trial, quantity, wants[quantity], compared[quantity]).noted(record)

    def _compared(self, running: RunningCase) -> list[Record]:
        """The records of each plan of a case against its base, and against itself."""
        compared = []
        for plan, base in running.bases():
            records, trial, wants = [], running.trial(plan), running.expected[plan].wants
            if base != plan:
                results = running.observations[base].quantities
                others = running.expected[base].wants
                other = {q: wants[q].from_other(r, others[q]) if q in wants else Want.of(r) for q, r in results.items()}
                records = self.judge.against_promises(trial, other, base, running.excused(plan, base))
            records += self.judge.against_itself(trial, wants)
            self._write("compare", running.case, plan, records)
            compared += records
        return compared

    def _broken(self, item: Item, case: Case, plans: Sequence[Plan], message: str) -> list[Record]:
        """The records of a case whose reference failed."""
        records = []
        for plan in plans:
            record = self.judge.broken(Trial(item.suite, case, plan), message)
            self._write("result", case, plan, [record], observation={})
            self._write("compare", case, plan, [])
            records.append(record)
        return records

    def _restored(self, item: Item, case: Case, plan: Plan, digest: str = "") -> list[Record]:
        """The records that a recording holds in place of arrays; `digest` is the request's."""
        program = self._program(item)
        recorded, reason = self.recordings[plan.device].records(case.id, plan.mode, program, digest)
        records = [replace(self.judge.restored(plan, record), suite=item.suite) for record in recorded]
        records = records or [self.judge.absent(Trial(item.suite, case, plan), reason)]
        self._write("result", case, plan, records, observation={}, asked=digest, program=program)
        self._write("compare", case, plan, [])
        return records

    def _sweep(self, item: Item) -> list[Record]:
        """The records of every bit pattern of the item's dtype, if the dtype has 16 bits."""
        records = []
        for case, plan in planned(item, self.plans, self.only, sweeps=True):
            if case in item.sweeps and plan.device in self.recordings:
                records += self._restored(item, case, plan)
        return records + self._sweep_live(item)

    def _sweep_live(self, item: Item) -> list[Record]:
        attrs = {case.id: case.attrs for case in item.sweeps if not self.only or case.id in self.only}
        plans = [plan for plan in self.plans if plan.device not in self.recordings]
        labels = dict.fromkeys(attrs.values()) if plans else {}
        sweeps = (Sweep(item, plans, 0, patterns(item.dtype), attrs=label) for label in labels)
        return [record for sweep in sweeps for record in self._swept(sweep, attrs)]

    def _swept(self, sweep: Sweep, case_ids: Collection[str]) -> list[Record]:
        """Runs a sweep; returns the records of the cases with these ids."""
        try:
            workers.run(sweep, [self.servers], self.shard, lambda _: None)
            records = [r for cell in tally_rows.cells(sweep) for r in tally_rows.records(sweep, self.context, *cell)]
            errors = tally_rows.profiles(sweep)
        except ReferenceFault as error:
            records, errors = tally_rows.faulty(sweep, self.context, str(error)), {}
        records = [record for record in records if record.case in case_ids]
        tally_rows.write(records, self.shard, self._program(sweep.item), errors)
        return records

    def _write_start(self, device: Device, request: Request) -> None:
        self.shard.write("start", case=request.case, device=str(device), mode=request.mode, at=time.time())

    def _write(self, line: str, case: Case, plan: Plan, records: Sequence[Record], **more: Any) -> None:
        rows = [record.to_json() for record in records]
        self.shard.write(line, case=case.id, device=str(plan.device), mode=plan.mode, records=rows, **more)

    def _program(self, item: Item) -> str:
        """The digest of the program of the item's spec; the last one is kept, because it is slow to compute."""
        name, program = self._last_program
        if name != item.spec.name:
            program = digest(item.spec)
            self._last_program = item.spec.name, program
        return program

    def close(self) -> None:
        """Ends the servers and closes the shard."""
        self._stop()
        if self.cache:
            self.cache.flush()
            self.shard.write("cache", read=self.cache.read, computed=self.cache.computed, off=self.cache.off)
        self.slots.release()
        self.shard.close()

    def _stop(self) -> None:
        for server in self.servers.values():
            server.stop()
