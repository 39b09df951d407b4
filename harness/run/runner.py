"""Run: one item, that is a spec × dtype, with all its cases under all its plans."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tf_opdiff.harness.device.locks import Slots
from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.repeat import kinds
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.device.server_handle import DeviceServer
from tf_opdiff.harness.judge import claim
from tf_opdiff.harness.judge.expectation import Expectation, ReferenceFault, Want, expectations
from tf_opdiff.harness.judge.verdict import TWO_RESULTS, Context, Trial, absent, broken, judge, rejudge, restored
from tf_opdiff.harness.repro.source import digest
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.record import Record, Shard
from tf_opdiff.harness.sweep import tally_rows
from tf_opdiff.harness.sweep.pieces import patterns
from tf_opdiff.harness.sweep.sweep import Sweep

if TYPE_CHECKING:  # it takes pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recording import Recording


def planned(
    item: Item, plans: Sequence[Plan], only: Collection[str] = (), *, sweeps: bool = False
) -> list[tuple[Case, Plan]]:
    """The cells of an item: each of its cases (or only the named ones) under each plan whose mode can express it."""
    cases = [c for c in (*item.cases, *(item.sweeps if sweeps else ())) if not only or c.id in only]
    return [(case, plan) for case in cases for plan in plans if plan.mode in item.spec.modes]


@dataclass
class Runner:
    """Runs items on one worker's device servers, and appends what it finds to that worker's shard.

    What `recordings` hold of devices takes part as if they had been run. Items that are `done` are not run again.
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
    _last_program: tuple[str, str] = ("", "")

    def plan(self, items: Sequence[Item]) -> None:
        """Writes what is going to be run."""
        self.shard.write("plan", items=[item.id for item in items])

    def run(self, item: Item) -> list[Record]:
        """All records of an item; the runs of a case are judged as they come in, and against each other at its end."""
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
        todo: dict[str, dict[Plan, Expectation]] = {}
        cases, requests, records, program = {}, defaultdict(list), [], self._program(item)
        claims: dict[str, claim.Promises] = {}
        for case, plan in planned(item, self.plans, self.only):
            if case.id not in cases:
                cases[case.id] = case, case.inputs()
                plans = [p for p in self.plans if p.mode in item.spec.modes]
                try:
                    claims[case.id] = claim.predictions(case, cases[case.id][1])
                    todo[case.id] = expectations(case, cases[case.id][1], plans)
                except ReferenceFault as error:
                    records += self._broken(item, case, plans, str(error))
            if case.id in todo:
                recording = self.recordings.get(plan.device)
                asked = request(item, case, plan, cases[case.id][1], todo[case.id][plan])
                if recording and recording.without_arrays(case.id, plan.mode):
                    records += self._kept(item, case, plan, asked.digest)
                    del todo[case.id][plan]
                else:
                    requests[plan.device].append(asked)
        seen: dict[str, dict[Plan, Observation]] = defaultdict(dict)
        wrong: set[tuple[str, Plan]] = set()
        for device, asked, observation in self._observed(requests, program):
            case, inputs = cases[asked.case]
            plan = Plan(device, asked.mode)
            wants = dict(todo[case.id][plan].wants)
            trial = Trial(self.context, item.suite, case, plan, observation, inputs)
            found = judge(trial, wants)
            wrong.update([(case.id, plan)] if any(record.kind for record in found) else [])
            found += claim.judge(trial, claims[case.id], wants)
            self._write(
                "result", case, plan, found, observation=observation.to_json(), asked=asked.digest, program=program
            )
            records += found
            seen[case.id][plan] = observation
            if len(seen[case.id]) == len(todo[case.id]):
                right_first = sorted(todo[case.id], key=lambda p: (case.id, p) in wrong)
                records += self._compared(item, case, inputs, todo[case.id], seen.pop(case.id), right_first)
        return records

    def _observed(
        self, requests: Mapping[Device, Sequence[Request]], program: str
    ) -> Iterator[tuple[Device, Request, Observation]]:
        """What the recordings hold, then what is observed now."""
        for device, recording in self.recordings.items():
            for asked in requests.get(device, ()):
                yield device, asked, recording.observation(asked, program)
        live = {device: asked for device, asked in requests.items() if device not in self.recordings}
        yield from run_all(self.servers, live, self._before)

    def _sweep(self, item: Item) -> list[Record]:
        """Every bit pattern of the item's dtype, where they are few."""
        cells = planned(item, self.plans, self.only, sweeps=True)
        kept = [
            self._kept(item, *cell) for cell in cells if cell[0] in item.sweeps and cell[1].device in self.recordings
        ]
        return [record for found in kept for record in found] + self._sweep_now(item)

    def _kept(self, item: Item, case: Case, plan: Plan, asked: str = "") -> list[Record]:
        """The records that a recording holds in place of arrays."""
        program = self._program(item)
        found, why = self.recordings[plan.device].records(case.id, plan.mode, program, asked)
        records = [restored(self.context, plan, record) for record in found]
        records = records or [absent(self.context, item.suite, case, plan, why)]
        self._write("result", case, plan, records, observation={}, asked=asked, program=program)
        self._write("compare", case, plan, [])
        return records

    def _sweep_now(self, item: Item) -> list[Record]:
        wanted = {case.id: case.attrs for case in item.sweeps if not self.only or case.id in self.only}
        plans = [plan for plan in self.plans if plan.device not in self.recordings]
        labels = dict.fromkeys(wanted.values()) if plans else {}
        sweeps = (Sweep(item, plans, 0, patterns(item.dtype), attrs=label) for label in labels)
        return [record for sweep in sweeps for record in self._swept(sweep, wanted)]

    def _swept(self, sweep: Sweep, wanted: Collection[str]) -> list[Record]:
        """The records of a sweep, of the cases of these ids."""
        try:
            sweep.run(self.servers, self.shard, lambda _: None)
            records = [r for cell in tally_rows.cells(sweep) for r in tally_rows.records(sweep, self.context, *cell)]
        except ReferenceFault as error:
            records = tally_rows.faulty(sweep, self.context, str(error))
        records = [record for record in records if record.case in wanted]
        tally_rows.write(records, self.shard, self._program(sweep.item))
        return records

    def _before(self, device: Device, asked: Request) -> None:
        self.shard.write("start", case=asked.case, device=str(device), mode=asked.mode, at=time.time())

    def _compared(
        self,
        item: Item,
        case: Case,
        inputs: Any,
        expected: Mapping[Plan, Expectation],
        seen: Mapping[Plan, Observation],
        right_first: Sequence[Plan],
    ) -> list[Record]:
        """Sets each plan against the first one that makes the same promise and has the kernel.

        One that agreed with NumPy comes before one that did not, so that the outlier is the one that is reported.
        """
        first: dict[int, Plan] = {}
        records = []
        for plan in right_first:
            usable = not (seen[plan].lacking or seen[plan].fault)
            base = first.setdefault(id(expected[plan]), plan) if usable else plan
            found, trial = [], Trial(self.context, item.suite, case, plan, seen[plan], inputs)
            if base != plan:
                wants, results = expected[plan].wants, seen[base].quantities
                other = {q: wants[q].from_other(r) if q in wants else Want.of(r) for q, r in results.items()}
                found = judge(trial, other, against=str(base), slack=TWO_RESULTS)
            found += rejudge(trial, expected[plan].wants)
            self._write("compare", case, plan, found)
            records += found
        return records

    def _broken(self, item: Item, case: Case, plans: Sequence[Plan], message: str) -> list[Record]:
        records = []
        for plan in plans:
            record = broken(self.context, item.suite, case, plan, message)
            self._write("result", case, plan, [record], observation={})
            self._write("compare", case, plan, [])
            records.append(record)
        return records

    def _write(self, line: str, case: Case, plan: Plan, records: Sequence[Record], **more: Any) -> None:
        rows = [record.to_json() for record in records]
        self.shard.write(line, case=case.id, device=str(plan.device), mode=plan.mode, records=rows, **more)

    def _program(self, item: Item) -> str:
        """The digest of what the item's spec runs; it is dear, and items of one spec mostly follow each other."""
        name, found = self._last_program
        if name != item.spec.name:
            self._last_program = name, found = item.spec.name, digest(item.spec)
        return found

    def close(self) -> None:
        """Ends the servers and closes the shard."""
        self._stop()
        self.slots.release()
        self.shard.close()

    def _stop(self) -> None:
        for server in self.servers.values():
            server.stop()


def request(item: Item, case: Case, plan: Plan, inputs: Any, expected: Expectation) -> Request:
    """What a device server is to be asked for a case under a plan."""
    return Request(
        module=item.module,
        spec=item.spec.name,
        case=case.id,
        dtype=case.dtype,
        mode=plan.mode,
        inputs=inputs,
        upstreams=expected.upstreams,
        quantities=tuple(expected.wants),
        state=expected.state,
        tangents=expected.tangents,
        again=kinds(case.spec, inputs),
        attrs=case.keywords,
    )
