"""Row: a comparison flattened to a record, before its verdict."""

from __future__ import annotations

import shlex

import numpy as np

from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.verdicts.blame import Index
from tf_opdiff.harness.judge.verdicts.trial import Context, Trial
from tf_opdiff.harness.spec.plan import Plan, PlanName
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.element_index import index_text
from tf_opdiff.harness.store.records.record import Record

#: Elements: an input, or a row, that has no more is shown whole.
_SMALL = 8


def row_of(context: Context, trial: Trial, comparison: Comparison, *, against: str, quantity: str) -> Record:
    """A record without a verdict: the comparison of a quantity with an oracle."""
    case, plan, observation = trial.case, trial.plan, trial.observation
    easy, kind = comparison.simplest, comparison.kind
    shown = "" if easy is None else _inputs(trial, quantity, kind, easy.index)
    example = "" if easy is None else wording.numbers(kind, shown, easy.got, easy.want)
    return Record(
        run=context.run,
        started=context.started,
        **vars(context.origin(str(plan.device))),
        suite=trial.suite,
        spec=case.spec.name,
        raw_op=observation.raw_op,
        case=case.id,
        dtype=case.dtype,
        recipe=case.recipe,
        seed=f"{case.seed:016x}",
        device=str(plan.device),
        mode=plan.mode,
        ran_on=observation.ran_on,
        against=against,
        quantity=quantity,
        kind=kind,
        size=comparison.size,
        mismatched=comparison.mismatched,
        max_ulp=comparison.max_ulp,
        max_abs=comparison.max_abs,
        budget=comparison.budget,
        worst_index=index_text(comparison.index),
        input=_inputs(trial, quantity, kind, comparison.index) if comparison.got or comparison.want else "",
        got=comparison.got,
        want=comparison.want,
        seconds=round(observation.seconds, 6),
        rerun=rerun(case, plan, against),
        example_index="" if easy is None else index_text(easy.index),
        example=example,
        distance=comparison.distance,
        attrs=case.attrs,
        kinds=";".join(comparison.kinds),
    )


def _inputs(trial: Trial, quantity: str, kind: str, index: Index | None) -> str:
    """The inputs of an element of a result: those to blame where it differs and where these are known."""
    value, inputs = trial.result(quantity).value, trial.inputs
    shape = value.shape if value is not None else ()
    blamed: tuple[Index | None, ...] = ()
    changed = kind == "input_mutated"  # the index is one of the input
    if trial.blame and kind and not changed and index is not None and not trial.case.spec.elementwise:
        blamed = trial.blame.of(quantity, index, kind)
    if not blamed:
        return ", ".join(_shown(x, index if x.shape == shape else None) for x in inputs)
    own = [x.shape == shape and at == index for x, at in zip(inputs, blamed, strict=True)]
    return ", ".join(_shown(x, at) if o else _in_place(x, at) for x, at, o in zip(inputs, blamed, own, strict=True))


def _shown(array: np.ndarray, index: Index | None) -> str:
    """An input: its element at an index; without one, a small input whole, else its type.

    An input without elements is small unless it has many empty rows, whose list would fill the memory.
    """
    if index is not None:
        return str(array[index])
    small = array.size <= _SMALL and max(array.shape, default=0) <= 1000
    return str(array.tolist()) if small else f"{array.dtype.name}{list(array.shape)}"


def _in_place(array: np.ndarray, index: Index | None) -> str:
    """An element of an input with its place: a small input whole, a short row, or the element of a long one."""
    if not index or array.size <= _SMALL:
        return _shown(array, None)
    at = index[:-1] if array.shape[-1] <= _SMALL and array.ndim > 1 else index
    text = str(array[at]) if at == index else f"[{', '.join(map(str, array[at]))}]"
    return f"{text} at {index_text(at)} of {array.dtype.name}{list(array.shape)}"


def rerun(case: Case, plan: Plan, against: str) -> str:
    """The command that runs one case under one plan, and under the plan that it is compared with."""
    plans = [*filter(None, [PlanName.parse(against)]), plan.name]
    devices = dict.fromkeys(p.device for p in plans)
    options = [*(f"--device {d}" for d in devices), *(f"--mode {m}" for m in dict.fromkeys(p.mode for p in plans))]
    return f"pytest suites --case {shlex.quote(case.id)} {' '.join(options)}"
