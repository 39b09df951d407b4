"""Explanation: why a program differs under a plan; the op to blame.

An op is to blame only if its effect shows in the results: the trace, run op by op in eager mode, has other results; or
the program has them if this op alone runs under the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.answer import Answer, ResultDifference
from tf_opdiff.model.answers.failing_op import failing_op, op_types
from tf_opdiff.model.answers.growth import growth
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.recordings.alignment import Misfit, Values, first_misfit
from tf_opdiff.model.recordings.recorded import Recording
from tf_opdiff.model.shrink import smallest
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

if TYPE_CHECKING:
    from tf_opdiff.model.analysis import Analysis

#: How many results of the program an answer shows.
_SHOWN = 3
#: How many ops that differ alone are tried for their effect on the results.
_TRIED = 20
#: The share of a program's error that the errors of its ops must reach to explain it.
_SHARE = 0.1
#: That share for a result within what its condition allows: many roundings add up.
_LITTLE = 0.01


def explained(analysis: Analysis, plan: Plan, results: Sequence[ResultDifference], failure: str) -> Answer:
    """The answer about a plan under which the program has these differing results, or this failure."""
    recording = analysis.recording
    if recording.failure:
        ops = tuple(op.number for op in recording.ops[-1:])
        return Answer(plan=str(plan), kind="fails", ops=ops, detail=line(f"cpu/eager fails: {recording.failure}"))
    if failure:
        return _failed(analysis, plan, failure)
    if not results:
        return Answer(plan=str(plan), kind="same")
    significant = [result for result in results if result.significant]
    step = min((result.step for result in significant), default=0)
    answer = Answer(plan=str(plan), kind="rounding", results=tuple(results[:_SHOWN]), step=step)
    misfit, untraced = _misfit(analysis, plan, step) if significant else (None, "")
    if misfit:
        return replace(answer, kind="retraced", ops=(misfit.number,), detail=misfit.sentence, in_trace=True)
    return _Replays(analysis, plan, replace(answer, detail=untraced), significant).answer()


def _failed(analysis: Analysis, plan: Plan, failure: str) -> Answer:
    """The answer about a program that gives a value in eager mode, and fails under the plan."""
    answer, recording = Answer(plan=str(plan), kind="fails", detail=line(failure)), analysis.recording
    place = trace = None
    if plan.mode != "eager":
        try:
            trace = analysis.traced(0, plan)
        except (RequestFailed, WorkerEnded) as why:
            answer = replace(answer, detail=f"{answer.detail}; tracing it ends: {line(str(why))}")
        if trace and trace.failure and not trace.ops:
            place, failure = trace.failed_at, f"{failure} {trace.failure}"
            answer = replace(answer, in_trace=True)
    reports = tuple(analysis.replayed(plan)) if place is None else ()
    failing = [report.number for report in reports if report.failure]
    number = failing_op(recording, failure, place)
    if number is None and trace:  # eager mode has no op for `tf.numpy_function`
        place = next((op.place for kind in op_types(failure) for op in trace.ops if op.type == kind), None)
        number = failing_op(recording, failure, place)
    wrong = [report.number for report in reports if any(map(tolerance.serious, report.comparisons))]
    if number is None:
        number = next(iter((*failing, *wrong)), None)
    kind = "alone" if number in (*failing, *wrong) else "fails"
    return replace(answer, kind=kind, ops=() if number is None else (number,), reports=reports)


def _misfit(analysis: Analysis, plan: Plan, step: int) -> tuple[Misfit | None, str]:
    """The first op whose value the trace lacks, if any; and the error if tracing fails."""
    if plan.mode == "eager":
        return None, ""
    try:
        trace = analysis.traced(step, plan)
    except (RequestFailed, WorkerEnded) as why:
        return None, line(f"tracing it fails: {why}")
    if trace.failure:
        return None, line(f"the ops of its trace fail in eager mode: {trace.failure}")
    recording = analysis.recorded(step)
    differing = _differing(analysis, step, recording, trace)
    return (first_misfit(recording, trace, differing) if differing else None), ""


def _differing(analysis: Analysis, step: int, recording: Recording, trace: Recording) -> list[str]:
    """The results of a trace, run op by op in eager mode, that differ from the recorded ones by more than rounding."""
    own, traced, names = Values(recording), Values(trace), list[str]()
    for name in recording.results.keys() & trace.results.keys():
        want, got = own.array(recording.results[name]), traced.array(trace.results[name])
        samples = _samples(analysis, step, name, want)
        if tolerance.serious(tolerance.compared_by_condition(got, want, samples)):
            names.append(name)
    return sorted(names)


def _samples(analysis: Analysis, step: int, name: str, want: np.ndarray) -> list[np.ndarray]:
    """A result of a step for inputs and variables that are a little off; of a variable, that after the last step."""
    samples = []
    for run in analysis.shaken():
        at = next((n for n in (step, analysis.steps) if name in run.names(n)), None)
        if at is not None and (array := run.array(at, name)).shape == want.shape:
            samples.append(array)
    return samples


class _Replays:
    """The answer about a program whose trace has the results of eager mode: its recorded ops run under the plan."""

    def __init__(self, analysis: Analysis, plan: Plan, answer: Answer, significant: Sequence[ResultDifference]) -> None:
        self._analysis, self._plan, self._step = analysis, plan, answer.step
        self._recording, self._results = analysis.recorded(answer.step), significant
        self._reports = tuple(analysis.replayed(plan, answer.step))
        self._answer = replace(answer, reports=self._reports)

    def answer(self) -> Answer:
        """The op that differs alone, where rounding grows, the ops that differ together, or none."""
        alone = [r.number for r in self._reports if any(map(tolerance.serious, r.comparisons))]
        number = next((n for n in alone[:_TRIED] if self._shows([n])), None)
        if number is None and self._shows(alone, apart=True):  # in a loop, one op may hide what another one does
            number = smallest(alone[:_TRIED], partial(self._shows, apart=True))[0]
        if number is None:  # a number that becomes zero, or a zero of another sign, counts if the results show it
            minor = [r.number for r in self._reports if _is_minor(r)]
            number = next((n for n in minor[:_TRIED] if self._shows([n])), None)
        if number is None and not self._results:
            number = next(iter(alone), None)
        if number is not None:
            others = f"{len(alone) - 1} other ops differ alone as well" if len(alone) > 1 else ""
            return replace(self._answer, kind="alone", ops=(number,), detail=self._answer.detail or others)
        if not self._results:
            return self._answer
        beyond = any(tolerance.serious(result.comparison) for result in self._results)
        if self._by_rounding() if beyond else self._by_noise(_LITTLE):
            return self._amplified()
        if together := self._together([r.number for r in self._reports if r.comparisons]):
            return replace(self._answer, kind="together", ops=together)
        if self._by_noise():
            return self._amplified()
        if alone:
            return replace(self._answer, kind="alone", ops=tuple(alone[:1]))
        again = "" if self._analysis.repeats() else "eager mode gives other results when the program runs again"
        return replace(self._answer, kind="unexplained", detail=again or self._answer.detail)

    def _shows(self, numbers: Sequence[int], *, apart: bool = False) -> bool:
        """Whether some ops alone, under the plan, give one of the program's results a good part of its error.

        They run as one program, or `apart`.
        """
        if not (self._results and numbers):
            return False
        try:
            with self._analysis.replayer(self._plan, self._step) as worker:
                effect = worker.ask("effect", numbers, apart)
        except (RequestFailed, WorkerEnded):
            return False
        return any(_reaches(effect.get(result.name, 0.0), self._error(result)) for result in self._results)

    def _error(self, result: ResultDifference) -> float:
        """The error of a result in the recorded step; of a variable, after the last step."""
        return result.curve[min(self._step, len(result.curve) - 1)]

    def _by_rounding(self) -> bool:
        """Whether the program's error is there too when its ops run one by one, each on the results of the others."""
        taken = {v for op in self._recording.ops for v in op.inputs}
        last = [op.number for op in self._recording.ops if not taken.intersection(op.outputs)]
        totals = [self._reports[n].total for n in last if self._reports[n].comparisons]
        return bool(totals) and max(totals) >= _SHARE * max(map(self._error, self._results))

    @cached_property
    def _noise(self) -> list[float]:
        """The relative error of each op if each result of an op is rounded once more."""
        with self._analysis.replayer(self._plan, self._step) as worker:
            errors: list[float] = worker.ask("noise")
        return errors

    def _by_noise(self, share: float = _SHARE) -> bool:
        """Whether one more rounding of each op gives each of the program's results this part of its error."""
        producers, values = self._recording.producers, self._recording.results
        pairs = [(producers.get(values.get(result.name, -1)), self._error(result)) for result in self._results]
        return all(number is not None and _reaches(self._noise[number], error, share) for number, error in pairs)

    def _amplified(self) -> Answer:
        """The answer that rounding becomes large, with the op in which it grows most."""
        answer = replace(self._answer, kind="amplified")
        values = [self._recording.results[r.name] for r in self._results if r.name in self._recording.results]
        grown = [one for value in values if (one := growth(self._recording, self._noise, value))]
        if not grown:
            return answer
        most = max(grown, key=lambda one: one.factor)
        ops = (most.op,) if most.op == most.source else (most.op, most.source)
        factor = "" if math.isinf(most.factor) else f" {most.factor:.2g} times"
        return replace(answer, ops=ops, detail=f"one op lets rounding grow{factor}")

    def _together(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The fewest recorded ops that differ as one program, and whose effect shows in the results; none otherwise."""
        self._analysis.progress(f"{self._plan}: {len(numbers)} ops together")
        with ExitStack() as stack:
            workers: list[Worker] = []

            def differs(part: Sequence[int]) -> bool:
                if not workers:
                    workers.append(stack.enter_context(self._analysis.replayer(self._plan, self._step)))
                try:
                    pairs = workers[-1].ask("together", part)
                except RequestFailed:
                    return False
                except WorkerEnded:
                    workers.clear()
                    return False
                return any(tolerance.serious(comparison) for _, comparison in pairs)

            found = smallest(numbers, differs) if numbers and differs(numbers) else ()
        return found if found and self._shows(found) else ()


def _is_minor(report: OpReport) -> bool:
    """Whether an op differs in signs of zeros or in subnormal numbers."""
    return any(tolerance.MINOR.intersection(comparison.kinds) for comparison in report.comparisons)


def _reaches(effect: float, error: float, share: float = _SHARE) -> bool:
    return effect >= share * error if math.isfinite(error) else not math.isfinite(effect) or effect >= 1


def line(text: str) -> str:
    """A text in one line, cut."""
    return " ".join(text.split())[:500]
