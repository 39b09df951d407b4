"""Analysis: compares a program under a plan with its recording in eager mode on the CPU, and finds the op that differs.

The base plan is eager mode on the CPU. Nothing here imports TensorFlow: processes of their own run the program and
replay its ops, and may crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model import tolerance
from tf_opdiff.model.alignment import Misfit, first_misfit
from tf_opdiff.model.answer import Answer, ResultDifference
from tf_opdiff.model.budgets import Budgets, budgets_of
from tf_opdiff.model.op_report import OpReport
from tf_opdiff.model.program_run import ProgramRun
from tf_opdiff.model.recorded import Recording
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.shrink import smallest
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

BASE = Plan(Device("cpu"), "eager")
#: How many results of the program an answer shows.
_SHOWN = 3
#: How often the program runs on shaken inputs and variables.
_SAMPLES = 4
#: The share of a program's error that the errors of its ops must reach to explain it.
_SHARE = 0.1


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
      progress: is called with a sentence before each long piece of work.
    """

    request: ModelRequest
    folder: Path
    steps: int = 1
    timeout: float = 600.0
    progress: Callable[[str], None] = lambda _: None
    _stack: ExitStack = field(default_factory=ExitStack)
    _budgets: dict[str, Budgets] = field(default_factory=dict)
    _runs: int = 0

    def __enter__(self) -> Self:
        try:
            self._base = self._stack.enter_context(Worker(BASE.device, self.folder / "base.log", self.timeout))
            self._base.ask("build", self.request)
            self.recording: Recording = self._base.ask("record", self.folder / "ops.values")
            self._expected = self._run(self._base, BASE.mode)
        except (RequestFailed, WorkerEnded) as why:
            self._stack.close()
            raise ModelProblem(f"the program fails in eager mode on the CPU: {why}") from why
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _run(self, worker: Worker, mode: str, shake: int | None = None) -> ProgramRun:
        self._runs += 1
        run: ProgramRun = worker.ask("run", mode, self.steps, self.folder / f"run-{self._runs}.values", shake)
        return run

    def answer(self, plan: Plan) -> Answer:
        """Compares the program under a plan with eager mode on the CPU; where it differs, finds the op.

        Raises:
          RuntimeError: the device is not available.
        """
        self.progress(f"{plan}: the whole program")
        try:
            results, failure = self._differences(plan), ""
        except (RequestFailed, WorkerEnded) as why:
            results, failure = (), str(why)
        if not results and not failure:
            return Answer(plan=str(plan), kind="same")
        reports = tuple(self.replayed(plan))
        answer = Answer(plan=str(plan), kind="rounding", results=results, reports=reports, detail=_line(failure))
        alone = [r.number for r in reports if any(map(tolerance.serious, r.comparisons)) or (failure and r.failure)]
        if alone:
            others = f"{len(alone) - 1} later ops differ alone as well" if len(alone) > 1 else ""
            return replace(answer, kind="alone", ops=tuple(alone[:1]), detail=answer.detail or others)
        if failure:
            return replace(answer, kind="fails")
        if not any(tolerance.serious(result.comparison) for result in results):
            return answer
        misfit, untraced = self._misfit(plan)
        if misfit and misfit.value:  # another program: rounding and rewrites explain nothing
            return replace(answer, kind="retraced", ops=(misfit.number,), detail=misfit.sentence)
        if self._explained(results, reports):
            return replace(answer, kind="amplified")
        if together := self._together(plan, [r.number for r in reports if r.comparisons]):
            return replace(answer, kind="together", ops=together)
        if misfit is None:
            return replace(answer, kind="unexplained", detail=untraced)
        return replace(answer, kind="retraced", ops=(misfit.number,), detail=misfit.sentence)

    def _misfit(self, plan: Plan) -> tuple[Misfit | None, str]:
        """The first op where the traced program differs from the eager one, if any; and the error if tracing fails."""
        if plan.mode == "eager":
            return None, ""
        try:
            return first_misfit(self.recording, self._base.ask("trace")), ""
        except (RequestFailed, WorkerEnded) as why:
            return None, _line(f"tracing it fails: {why}")

    def write_script(self, plan: Plan, answer: Answer, file: Path) -> str:
        """Writes a program of the ops that an answer names; returns why there is none, or an empty text."""
        if answer.kind not in ("alone", "together"):
            return "no op differs in a program of its own"
        with self.replayer(plan) as worker:
            try:
                worker.ask("write_script", answer.ops, file)
            except RequestFailed as why:
                return str(why)
        return ""

    def _differences(self, plan: Plan) -> tuple[ResultDifference, ...]:
        """The results of the program whose bits differ: those beyond the tolerance first, then by relative error."""
        with Worker(plan.device, self.folder / "other.log", self.timeout) as worker:
            worker.ask("build", self.request)
            state = self.folder / "state.values"
            worker.ask("load_state", state, self._base.ask("save_state", state))
            run = self._run(worker, plan.mode)
        if others := sorted({*run.stored} ^ {*self._expected.stored}):
            raise RequestFailed(f"it gives other results: {', '.join(others[:5])}")
        differing = {
            name
            for step in range(self.steps + 1)
            for name in self._expected.names(step)
            if not tolerance.same_bits(run.array(step, name), self._expected.array(step, name))
        }
        if not differing:
            return ()
        shaken = [self._run(self._base, BASE.mode, seed) for seed in tolerance.SAMPLES[:_SAMPLES]]
        each = [self._difference(name, run, shaken) for name in sorted(differing)]
        each.sort(key=lambda d: (not tolerance.serious(d.comparison), -max(d.curve)))
        return tuple(each[:_SHOWN])

    def _difference(self, name: str, run: ProgramRun, shaken: list[ProgramRun]) -> ResultDifference:
        """The first step in which a result differs by more than its condition explains, else the last step."""
        curve, shown = [], None
        for step in range(self.steps + 1):
            if name not in self._expected.names(step):
                continue
            got, want = (one.array(step, name) for one in (run, self._expected))
            curve.append(tolerance.relative_error(got, want))
            if shown is None or not tolerance.serious(shown):
                samples = [sample for one in shaken if (sample := one.array(step, name)).shape == want.shape]
                shown = tolerance.compared_by_condition(got, want, samples)
        assert shown is not None
        return ResultDifference(name, shown, tuple(curve))

    def replayed(self, plan: Plan) -> Iterator[OpReport]:
        """Replays each op alone; one that ends its process costs its own report only."""
        ops = self.recording.ops
        self.progress(f"{plan}: each of {len(ops)} ops alone")
        number = 0
        while number < len(ops):
            with self.replayer(plan) as worker:
                try:
                    while number < len(ops):
                        yield worker.ask("replay", number)
                        number += 1
                except WorkerEnded as how:
                    yield OpReport(number=number, failure=str(how))
                    number += 1

    def _explained(self, results: Sequence[ResultDifference], reports: Sequence[OpReport]) -> bool:
        """Whether the program's error is there too when its ops run one by one, each on the results of the others."""
        taken = {v for op in self.recording.ops for v in op.inputs}
        last = [op.number for op in self.recording.ops if not taken.intersection(op.outputs)]
        totals = [reports[n].total for n in last if reports[n].comparisons]
        return bool(totals) and max(totals) >= _SHARE * max(result.curve[0] for result in results)

    def _together(self, plan: Plan, numbers: Sequence[int]) -> tuple[int, ...]:
        """The fewest recorded ops that differ when they run as one program; none if all of them do not."""
        self.progress(f"{plan}: {len(numbers)} ops together")
        with ExitStack() as stack:
            workers: list[Worker] = []

            def differs(part: Sequence[int]) -> bool:
                if not workers:
                    workers.append(stack.enter_context(self.replayer(plan)))
                try:
                    pairs = workers[-1].ask("together", part)
                except RequestFailed:
                    return False
                except WorkerEnded:
                    workers.clear()
                    return False
                return any(tolerance.serious(comparison) for _, comparison in pairs)

            return smallest(numbers, differs) if numbers and differs(numbers) else ()

    def replayer(self, plan: Plan) -> Worker:
        """A process that replays recorded ops under a plan.

        Raises:
          RuntimeError: the device is not available, or lacks a setting.
        """
        if plan.mode not in self._budgets:
            self._budgets[plan.mode] = budgets_of({op.type for op in self.recording.ops}, plan.mode)
        budgets = self._budgets[plan.mode]
        return Worker(plan.device, self.folder / "replay.log", self.timeout, plan.mode, self.recording, budgets)


def _line(text: str) -> str:
    """A text in one line, cut."""
    return " ".join(text.split())[:500]
