"""Answer: whether a program differs between two plans, and the op that does it, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.answers.tolerance import serious
from tf_opdiff.model.recordings.recorded import MOVES, RecordedOp, Recording

#: The kinds of answers, and the sentence that begins each.
KINDS = {
    "same": "No difference: every result has the same bits.",
    "rounding": "No difference beyond rounding.",
    "alone": "An op differs alone.",
    "amplified": "No op differs alone: the program makes rounding large.",
    "together": "Ops that are right alone differ together: a rewrite of the program.",
    "retraced": "The program is another program when it is traced.",
    "fails": "The program fails in one of the two, and gives a value in the other.",
    "unexplained": "The program differs, and no replay of its ops shows it.",
}


@dataclass(frozen=True)
class ResultDifference:
    """A result of the program that differs.

    Attributes:
      name: its name.
      comparison: the differing elements.
      curve: its relative error after each step.
      lost: whether it has lost most of its digits, although rounding explains it.
      step: the first step in which it differs by more than rounding, from 0.
    """

    name: str
    comparison: Comparison
    curve: tuple[float, ...]
    lost: bool = False
    step: int = 0

    @property
    def significant(self) -> bool:
        """Whether the difference is more than rounding in the last digits."""
        return self.lost or serious(self.comparison)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an analysis of a program found out about a plan, against eager mode on the CPU, here or in a recording.

    Attributes:
      plan: the name of the plan.
      kind: one of `KINDS`.
      results: the results of the program with the largest relative errors.
      ops: the numbers of the ops that the answer names, in execution order; the first one is the answer. For the kind
        `amplified`, the op in which rounding grows most, then the one that it comes from.
      reports: one for each recorded op, if the ops were replayed.
      detail: more about it in one line, such as an error.
      switch: the setting on which the difference of the ops depends; see `Attribution.switch`.
      setting: the same in words; empty if it is not known.
      known: whether the difference is known, in a line.
      against: the name of the other side.
      causes: the ids of the causes of known failures that fit.
      step: the recorded step whose ops the answer names, from 0.
      in_trace: whether the trace itself has the difference, or can't be made.
    """

    plan: str
    kind: str
    results: tuple[ResultDifference, ...] = ()
    ops: tuple[int, ...] = ()
    reports: tuple[OpReport, ...] = ()
    detail: str = ""
    switch: str = ""
    setting: str = ""
    known: str = ""
    causes: tuple[str, ...] = ()
    against: str = "cpu/eager"
    step: int = 0
    in_trace: bool = False

    @property
    def differs(self) -> bool:
        """Whether the plan differs."""
        return self.kind not in ("same", "rounding")


def named(op: RecordedOp, recording: Recording) -> str:
    """An op in words: `op 81 of 82, SqrtGrad, in the gradient of Sqrt (layer norm, model.py:12)`."""
    gradient = f", in the gradient of {recording.ops[op.gradient_of].type}" if op.gradient_of is not None else ""
    place = f" ({op.place})" if str(op.place) else ""
    return f"op {op.number + 1} of {len(recording.ops)}, {op.type}{gradient}{place}"


def lines(answer: Answer, recording: Recording) -> Iterator[str]:
    """The answer, a line at a time."""
    yield f"{answer.plan} against {answer.against}: {KINDS[answer.kind]}"
    if answer.detail:
        yield f"  {answer.detail}"
    for result in answer.results:
        growth = " → ".join(f"{error:.2g}" for error in result.curve)
        steps = f" after steps 1 to {len(result.curve)}" if len(result.curve) > 1 else ""
        yield f"  {result.name}: relative error {growth}{steps}{_shown(result.comparison)}"
    if answer.step:
        yield f"  the first difference is in step {answer.step + 1}, whose ops were replayed"
    for position, number in enumerate(answer.ops):
        role = ("rounding grows most in ", "it comes from ")[position] if answer.kind == "amplified" else ""
        yield f"  {role}{named(recording.ops[number], recording)}"
        if answer.reports:
            yield from _op_lines(answer.reports[number], recording.ops[number])
    if answer.setting:
        yield f"  setting: {answer.setting}"
    if answer.known:
        yield f"  {answer.known}"
    yield from _unplayed(answer, recording)


def _unplayed(answer: Answer, recording: Recording) -> Iterator[str]:
    """Why ops were not replayed."""
    reasons = Counter(op.unplayable for op in recording.ops if op.unplayable and op.type not in MOVES)
    reasons |= Counter(
        report.failure for report in answer.reports if report.failure and report.number not in answer.ops
    )
    for reason, count in reasons.items() if answer.reports else ():
        yield f"  {count} ops were not replayed: {' '.join(reason.split())[:200]}"


def _op_lines(report: OpReport, op: RecordedOp) -> Iterator[str]:
    if report.failure:
        yield f"    fails alone: {' '.join(report.failure.split())[:300]}"
    for n, comparison in enumerate(report.comparisons):
        if comparison.kind:
            what = f"output[{n}]" if n < len(op.outputs) else f"variable {n - len(op.outputs)}"
            yield f"    {what}{_shown(comparison)}"
    if report.comparisons:
        yield f"    own relative error {report.local:.2g}; with inherited error {report.total:.2g}"


def _shown(comparison: Comparison) -> str:
    """The differing elements of a comparison, as the end of a line."""
    if not comparison.kind:
        return ""
    if comparison.index is None:
        return f": {comparison.kind}: got {comparison.got}, want {comparison.want} {comparison.detail}".rstrip()
    first = comparison.simplest or comparison
    distance = f" ({comparison.distance})" if comparison.distance else ""
    where = f"{comparison.kind} in {comparison.count} of {comparison.size}"
    return f": {where}, at {list(first.index or ())}: got {first.got}, want {first.want}{distance}"
