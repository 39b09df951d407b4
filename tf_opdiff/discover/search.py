"""Search: draws programs until the time is up; shrinks, recognises and groups what differs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tf_opdiff.discover.budgets import WordBudgets
from tf_opdiff.discover.calls import Caller, groups_of
from tf_opdiff.discover.group import ALIKE, KNOWN, NEW, CallGroup, Group, data_of, name_of
from tf_opdiff.discover.judging import Difference, Judge
from tf_opdiff.discover.programs.draw import KINDS, Drawing, values
from tf_opdiff.discover.programs.program import Program
from tf_opdiff.discover.programs.shrinking import Example, shrunk
from tf_opdiff.discover.programs.vocabulary import WORDS, Word
from tf_opdiff.discover.recognising import Recogniser
from tf_opdiff.discover.settling import SERVER, settled
from tf_opdiff.discover.signature import Signature
from tf_opdiff.discover.state import State
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.answers.budgets import OPS
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

MODES = ("function", "xla")
#: Draws of one program, one of each class of values.
_DRAWS = len(KINDS)
#: Seconds for which programs run in one process, which keeps all that it traced; then calls run as long.
_TURN = 60.0
#: The share of the differences that a group explains which are shrunk all the same: another cause may hide in them.
_ALL_THE_SAME = 0.05
#: Seconds between two checkpoints.
_PAUSE = 30.0


@dataclass
class Search:
    """A search on one device.

    Attributes:
      state: what earlier searches left, and what this one adds.
      device: the device.
      logs: a folder for logs.
      types: programs whose last op, and specs of which an op has one of these types; all, without any.
      hidden: the ids of causes that it does not know.
      settle: whether new groups are tried under settings, in fresh processes.
      timeout: seconds for one request.
      progress: is called with a sentence.
    """

    state: State
    device: Device
    logs: Path
    types: Collection[str] = ()
    hidden: Collection[str] = ()
    settle: bool = True
    timeout: float = 120.0
    progress: Callable[[str], None] = lambda _: None
    _new: set[tuple[str, ...]] = field(default_factory=set)

    def run(self, seconds: float) -> None:
        """Searches for so many seconds, from the seed of the last checkpoint on.

        Raises:
          RuntimeError: the device is not available.
          LookupError: no program and no spec has one of the types.
        """
        self._before, self._began = self.state.seconds, time.monotonic()
        self._end, self._last = self._began + seconds, self._began
        with self._worker() as worker:
            self._budgets = WordBudgets.of(worker, WORDS)
            self._recogniser = Recogniser(worker, self.device)
        words, specs = self._words(), self._specs()
        if not (words or specs):
            raise LookupError(f"no program and no spec has one of the ops {', '.join(sorted(self.types))}")
        self._drawing = Drawing(words, Counter(self.state.pairs))
        self._kept = Counter(self._drawing.seen)
        caller = Caller(self.device, self.logs, self._recogniser.without(self.hidden), specs, self._recogniser.catalog)
        try:
            while time.monotonic() < self._end:
                if words:
                    self._programs()
                if caller.items:
                    self._calls(caller)
        finally:
            caller.close()
            self._keep()

    def _programs(self) -> None:
        """Runs programs in one process, for a while."""
        end = min(self._end, time.monotonic() + _TURN)
        try:
            with self._worker() as worker:
                judge = Judge(worker, self._budgets)
                while time.monotonic() < end:
                    self._one(worker, judge)
                    self._checkpoint()
        except WorkerEnded:
            self.state.counts["ended"] += 1

    def _calls(self, caller: Caller) -> None:
        """Runs calls of specs, for a while."""
        end = min(self._end, time.monotonic() + _TURN)
        while time.monotonic() < end:
            seed = self.state.seed
            self.state.seed += 1
            self.state.counts["calls"] += 1
            try:
                self._called(caller, seed)
            except (ValueError, ReferenceFault) as why:
                self._failed(seed, why)
            self._checkpoint()

    def _called(self, caller: Caller, seed: int) -> None:
        """Draws a call, and judges it."""
        for group in groups_of(caller, seed, self.state.groups):
            self.state.counts[group.id] += 1
            if group.id not in self.state.groups:
                group = self.state.add(group)
                self.progress(f"{group.state}: {group.id}: {group.call}")

    def _failed(self, seed: int, why: Exception) -> None:
        """Counts a program or call that the search itself could not judge."""
        self.state.counts["failed"] += 1
        self.progress(f"seed {seed} can't be judged: {' '.join(str(why).split())[:300]}")

    def _checkpoint(self) -> None:
        """Keeps the state, now and then."""
        if time.monotonic() - self._last > _PAUSE:
            self._last = time.monotonic()
            self._keep()

    def _worker(self) -> Worker:
        return Worker(self.device, self.logs / "programs.log", self.timeout, server=SERVER)

    def _words(self) -> Sequence[Word]:
        return [word for word in WORDS if not self.types or {*self._budgets.types[word.text]} & {*self.types}]

    def _specs(self) -> Collection[str]:
        """The names of the elementwise specs of ops that have one of the types."""
        specs = [i.spec for i in self._recogniser.catalog.items if i.module.startswith(OPS) and i.spec.elementwise]
        return {spec.name for spec in specs if not self.types or spec.every_op & {*self.types}}

    def _keep(self) -> None:
        """Writes a checkpoint, and says how far the search is."""
        self.state.seconds = self._before + time.monotonic() - self._began
        self.state.checkpoint(self._new, self._drawing.seen - self._kept)
        self._new, self._kept = set(), Counter(self._drawing.seen)
        states = Counter(group.state for group in self.state.groups.values())
        groups = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        counts = self.state.counts
        self.progress(
            f"{self.state.seconds:.0f} s: {counts['programs']} programs, {counts['calls']} calls,"
            f" {len(self.state.behaviours)} behaviours; groups: {groups or 'none'}"
        )

    def _one(self, worker: Worker, judge: Judge) -> None:
        """Draws a program and values, and judges it."""
        seed = self.state.seed
        self.state.seed += 1  # before it runs: a program that ends its process is not drawn again
        random = np.random.default_rng(seed)
        program = self._drawing.program(random)
        draws = values(random, program, _DRAWS)
        try:
            every = judge.differences(program, draws, MODES)
        except WorkerEnded as how:
            self._ended(Example(program, draws[0]), judge.mode, seed, str(how))
            raise
        except RequestFailed as why:
            self._failed(seed, why)
            return
        self.state.counts["programs"] += 1
        if every is None:
            self.state.counts["refused"] += 1
            return
        for op in program.ops:
            self._new |= {(op.text, program.dtypes[0], kind, program.form) for kind in KINDS} - self.state.behaviours
        for difference in (found[0] for found in every.values() if found):
            if not self._explained(program, difference, random):
                self._grouped(worker, judge, Example(program, difference.draw), difference, seed)

    def _explained(self, program: Program, difference: Difference, random: np.random.Generator) -> bool:
        """Whether a group explains a difference; then it is counted."""
        kind, mode = difference.kind, difference.mode
        group = next((g for g in self.state.programs if g.explains(program, kind, mode)), None)
        if group is None or random.random() < _ALL_THE_SAME:
            return False
        self.state.counts[group.id] += 1
        return True

    def _grouped(self, worker: Worker, judge: Judge, example: Example, difference: Difference, seed: int) -> None:
        """Shrinks a difference, and adds it to its group."""
        self.progress(f"seed {seed}: {difference.kind} in {difference.mode}: {example.program.root}")
        small, shown = shrunk(judge, example, difference)
        signature = Signature.of(worker, small.program, shown.kind, shown.mode)
        id = name_of(signature, small.program)
        self.state.counts[id] += 1
        if id in self.state.groups:
            return
        causes = [cause for cause in self._recogniser.causes(signature) if cause not in self.hidden]
        parts = [frozenset(self._budgets.types[op.text]) for op in small.program.ops]
        alike = [cause for cause in self._recogniser.alike(signature, parts) if cause not in self.hidden]
        group = Group(
            id=id,
            kind=shown.kind,
            mode=shown.mode,
            types=tuple(sorted(signature.types)),
            program=small.program.data(),
            draw=data_of(small.draw),
            got=shown.got,
            want=shown.want,
            seed=seed,
            state=KNOWN if causes else ALIKE if alike else NEW,
            causes=tuple(causes or alike),
        )
        group = self.state.add(group)
        self.progress(f"{group.state}: {group.id}: {small.program.root}")
        if self.settle and group.state == NEW:
            self.state.add(settled(group, self.device, self._budgets, self.state.folder, self.timeout))

    def _ended(self, example: Example, mode: str, seed: int, how: str) -> None:
        """Adds a group for a program that ended its process."""
        group = Group.ended(example, mode, seed, how)
        self.state.add(group)
        self.state.counts[group.id] += 1


def recognised(search: Search) -> set[str]:
    """The ids of the hidden causes that fit a group of a search."""
    fitting = set()
    for group in search.state.programs:
        program = Program.of(group.program)
        signature = Signature(
            types=frozenset(group.types),
            family="grad" if program.gradient else "output",
            kind=group.kind,
            mode=group.mode,
            dtype=program.dtypes[0],
            words=len(program.ops),
        )
        fitting |= {*search._recogniser.causes(signature)}
    for call in search.state.groups.values():
        if isinstance(call, CallGroup):
            fitting |= {*search._recogniser.of_call(call)}
    return fitting & {*search.hidden}
