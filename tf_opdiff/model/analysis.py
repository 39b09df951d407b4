"""Analysis: runs a program under a plan and in eager mode on the CPU, and replays its recorded ops.

The base plan is eager mode on the CPU. Nothing here imports TensorFlow: processes of their own run the program and
replay its ops, and may crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.answer import Answer, ResultDifference
from tf_opdiff.model.answers.budgets import Budgets, budgets_of
from tf_opdiff.model.answers.differences import differences, differing
from tf_opdiff.model.answers.explanation import explained
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.program_run import ProgramRun
from tf_opdiff.model.recordings.recorded import Recording
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

BASE = Plan(Device("cpu"), "eager")
#: How often the program runs on shaken inputs and variables.
_SAMPLES = 4
#: Seconds between two sentences about the same work.
_PAUSE = 5.0


class ModelProblem(Exception):
    """A program can't be analysed; the message says why."""


@dataclass
class Analysis:
    """An analysis of one program; use it in a `with` statement.

    Attributes:
      request: the program.
      folder: for the files of values, and for logs.
      steps: how many times the program runs, one step after another.
      timeout: seconds for one request.
      progress: is called with a sentence before each long piece of work, and while it goes on.
    """

    request: ModelRequest
    folder: Path
    steps: int = 1
    timeout: float = 600.0
    progress: Callable[[str], None] = lambda _: None
    _stack: ExitStack = field(default_factory=ExitStack)
    _budgets: dict[str, Budgets] = field(default_factory=dict)
    _runs: int = 0
    _shaken: list[ProgramRun] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.progress("the program in eager mode on the CPU, recorded")
        try:
            self._start()
            self.recordings: dict[int, Recording] = {0: self._base.ask("record", self._file("ops"), 0)}
            if not self.recording.failure:
                self._expected = self._run(self._base, BASE.mode)
        except (RequestFailed, WorkerEnded) as why:
            self._stack.close()
            raise ModelProblem(f"the program fails in eager mode on the CPU: {why}") from why
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start(self) -> None:
        """Starts the process that runs the program in eager mode on the CPU."""
        self._base = self._stack.enter_context(Worker(BASE.device, self.folder / "base.log", self.timeout))
        self._base.ask("build", self.request)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def recording(self) -> Recording:
        """The recording of the first step."""
        return self.recordings[0]

    def _file(self, name: str) -> Path:
        """A new file for values."""
        self._runs += 1
        return self.folder / f"{name}-{self._runs}.values"

    def _run(self, worker: Worker, mode: str, shake: int | None = None) -> ProgramRun:
        run: ProgramRun = worker.ask("run", mode, self.steps, self._file("run"), shake)
        return run

    def answer(self, plan: Plan) -> Answer:
        """Compares the program under a plan with eager mode on the CPU; where it differs, finds the op.

        Raises:
          ModelProblem: the program fails under both.
          RuntimeError: the device is not available.
        """
        self.progress(f"{plan}: the whole program")
        results, failure = list[ResultDifference](), ""
        try:
            results = self.results(plan)
        except (RequestFailed, WorkerEnded) as why:
            failure = str(why)
        if failure and self.recording.failure:
            raise ModelProblem(f"the program fails in eager mode on the CPU: {self.recording.failure}")
        return explained(self, plan, results, failure)

    def results(self, plan: Plan, base: Plan = BASE) -> list[ResultDifference]:
        """The results of the program that differ between a plan and a base plan.

        Raises:
          RequestFailed, WorkerEnded: the program fails under one of the plans, or gives other results.
        """
        run = self._apart(plan)
        if self.recording.failure:
            return []
        expected = self._expected if base == BASE else self._apart(base)
        if others := sorted({*run.stored} ^ {*expected.stored}):
            raise RequestFailed(f"it gives other results: {', '.join(others[:5])}")
        return differences(run, expected, self.shaken()) if differing(run, expected) else []

    def repeats(self) -> bool:
        """Whether the program gives the same results in eager mode when it runs again."""
        return not differing(self._run(self._base, BASE.mode), self._expected)

    def shaken(self) -> list[ProgramRun]:
        """The program in eager mode on inputs and variables that are a little off."""
        if not self._shaken:
            self._shaken = [self._run(self._base, BASE.mode, seed) for seed in tolerance.SAMPLES[:_SAMPLES]]
        return self._shaken

    def _apart(self, plan: Plan) -> ProgramRun:
        """The program under a plan, in a process of its own, from the same variables."""
        with Worker(plan.device, self.folder / "other.log", self.timeout) as worker:
            worker.ask("build", self.request)
            state = self.folder / "state.values"
            worker.ask("load_state", state, self._base.ask("save_state", state))
            return self._run(worker, plan.mode)

    def recorded(self, step: int) -> Recording:
        """The recording of a step, from 0."""
        if step not in self.recordings:
            self.recordings[step] = self._base.ask("record", self._file("ops"), step)
        return self.recordings[step]

    def traced(self, step: int, plan: Plan) -> Recording:
        """The ops of a step's trace for a plan, run one by one in eager mode on the CPU.

        Raises:
          RequestFailed, WorkerEnded: the process ended, or an op of the trace can't run in eager mode.
        """
        self.progress(f"{plan}: the ops of the trace in eager mode")
        try:
            trace: Recording = self._base.ask("record_trace", self._file("trace"), step, plan.mode == "xla")
        except WorkerEnded:
            self._start()
            raise
        return trace

    def write_script(self, plan: Plan, answer: Answer, file: Path) -> str:
        """Writes a program of the ops that an answer names; returns why there is none, or an empty text."""
        if answer.kind not in ("alone", "together"):
            return "no op differs in a program of its own"
        with self.replayer(plan, answer.step) as worker:
            try:
                worker.ask("write_script", answer.ops, file)
            except RequestFailed as why:
                return str(why)
        return ""

    def replayed(self, plan: Plan, step: int = 0) -> Iterator[OpReport]:
        """Replays each op alone; one that ends its process costs its own report only."""
        ops, number, said = self.recorded(step).ops, 0, time.monotonic()
        self.progress(f"{plan}: each of {len(ops)} ops alone")
        while number < len(ops):
            with self.replayer(plan, step) as worker:
                try:
                    while number < len(ops):
                        yield worker.ask("replay", number)
                        number += 1
                        if time.monotonic() - said > _PAUSE:
                            self.progress(f"{plan}: {number} of {len(ops)} ops alone")
                            said = time.monotonic()
                except WorkerEnded as how:
                    yield OpReport(number=number, failure=str(how))
                    number += 1

    def replayer(self, plan: Plan, step: int = 0) -> Worker:
        """A process that replays the recorded ops of a step under a plan.

        Raises:
          RuntimeError: the device is not available, or lacks a setting.
        """
        recording = self.recorded(step)
        if plan.mode not in self._budgets:
            self._budgets[plan.mode] = budgets_of({op.type for op in recording.ops}, plan.mode)
        budgets = self._budgets[plan.mode]
        return Worker(plan.device, self.folder / "replay.log", self.timeout, plan.mode, recording, budgets)
