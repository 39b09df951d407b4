"""Search: draws programs until the time is up; shrinks, recognises and groups what differs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tf_opdiff.discover.budgets import WordBudgets
from tf_opdiff.discover.draw import KINDS, Drawing, values
from tf_opdiff.discover.group import ALIKE, KNOWN, NEW, Group, data_of, name_of
from tf_opdiff.discover.judging import Difference, Judge
from tf_opdiff.discover.program import Program
from tf_opdiff.discover.recognising import Recogniser, Signature
from tf_opdiff.discover.settling import SERVER, settled
from tf_opdiff.discover.shrinking import Draw, Example, shrunk
from tf_opdiff.discover.state import State
from tf_opdiff.discover.vocabulary import WORDS, Word
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.worker import Worker, WorkerEnded

MODES = ("function", "xla")
#: Draws of one program, one of each class of values.
_DRAWS = len(KINDS)
#: Programs that one process runs: TensorFlow keeps what it traced.
_OF_PROCESS = 400
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
      types: programs whose first op has one of these types; all, without any.
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
          LookupError: no op has one of the types.
        """
        end, before = time.monotonic() + seconds, self.state.seconds
        began = time.monotonic()
        with self._worker() as worker:
            self._budgets = WordBudgets.of(worker, WORDS)
            self._recogniser = Recogniser(worker, self.device)
        drawing = Drawing(self._words(), Counter(self.state.pairs))
        known, last = Counter(drawing.seen), time.monotonic()
        try:
            while time.monotonic() < end:
                try:
                    with self._worker() as worker:
                        judge = Judge(worker, self._budgets)
                        for _ in range(_OF_PROCESS):
                            self._one(worker, judge, drawing)
                            if time.monotonic() - last > _PAUSE:
                                last = time.monotonic()
                                self.state.seconds = before + last - began
                                self._keep(drawing, known)
                                known = Counter(drawing.seen)
                            if time.monotonic() >= end:
                                break
                except WorkerEnded:
                    self.state.counts["ended"] += 1
        finally:
            self.state.seconds = before + time.monotonic() - began
            self._keep(drawing, known)

    def _worker(self) -> Worker:
        return Worker(self.device, self.logs / "programs.log", self.timeout, server=SERVER)

    def _words(self) -> Sequence[Word]:
        words = [word for word in WORDS if not self.types or {*self._budgets.types[word.text]} & {*self.types}]
        if not words:
            raise LookupError(f"no program has one of the ops {', '.join(sorted(self.types))}")
        return words

    def _keep(self, drawing: Drawing, known: Counter[tuple[str, str]]) -> None:
        """Writes a checkpoint, and says how far the search is."""
        self.state.checkpoint(self._new, drawing.seen - known)
        self._new = set()
        states = Counter(group.state for group in self.state.groups.values())
        found = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
        counts = self.state.counts
        self.progress(
            f"{self.state.seconds:.0f} s: {counts['programs']} programs, {len(self.state.behaviours)} behaviours;"
            f" groups: {found or 'none'}"
        )

    def _one(self, worker: Worker, judge: Judge, drawing: Drawing) -> None:
        """Draws a program and values, and judges it."""
        seed = self.state.seed
        self.state.seed += 1  # before it runs: a program that ends its process is not drawn again
        random = np.random.default_rng(seed)
        program = drawing.program(random)
        draws = values(random, program, _DRAWS)
        try:
            every = judge.differences(program, draws, MODES)
        except WorkerEnded as how:
            self._ended(program, draws[0], seed, str(how))
            raise
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
        group = next((g for g in self.state.groups.values() if g.explains(program, kind, mode)), None)
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
        alike = [cause for cause in self._recogniser.alike(signature) if cause not in self.hidden]
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
        if self.settle and group.state in (NEW, ALIKE):
            self.state.add(settled(group, self.device, self._budgets, self.state.folder, self.timeout))

    def _ended(self, program: Program, draw: Draw, seed: int, how: str) -> None:
        """Adds a group for a program that ended its process."""
        kind = how.partition(":")[0]
        id = f"any-{kind}-seed-{seed}"
        self.state.add(
            Group(
                id=id,
                kind=kind,
                mode="xla",
                types=(),
                program=program.data(),
                draw=data_of(draw),
                got=" ".join(how.split())[:200],
                want="a result",
                seed=seed,
            )
        )
        self.state.counts[id] += 1


def recognised(search: Search) -> set[str]:
    """The ids of the hidden causes that fit a group of a search."""
    fitting = set()
    for group in search.state.groups.values():
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
    return fitting & {*search.hidden}
