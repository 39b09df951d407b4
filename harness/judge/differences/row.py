"""Row: a comparison flattened to a record, before its verdict."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.verdicts.trial import Context, Trial
from tf_opdiff.harness.spec.plan import Plan, PlanName
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.element_index import index_text
from tf_opdiff.harness.store.records.record import Record


def row_of(context: Context, trial: Trial, comparison: Comparison, *, against: str, quantity: str) -> Record:
    """A record without a verdict: the comparison of a quantity with an oracle."""
    case, plan, observation = trial.case, trial.plan, trial.observation
    value, inputs = trial.result(quantity).value, trial.inputs
    shape, easy, kind = value.shape if value is not None else (), comparison.simplest, comparison.kind
    example = "" if easy is None else wording.numbers(kind, _shown(inputs, shape, easy.index), easy.got, easy.want)
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
        input=_shown(inputs, shape, comparison.index) if comparison.got or comparison.want else "",
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


def _shown(inputs: Sequence[np.ndarray], shape: tuple[int, ...], index: tuple[int, ...] | None) -> str:
    """The inputs at an index: the element if an input has the result's shape, a small input whole, else its type.

    An input without elements is small unless it has many empty rows, whose list would fill the memory.
    """
    texts = []
    for array in inputs:
        if index is not None and array.shape == shape:
            texts.append(str(array[index]))
        elif array.size <= 8 and max(array.shape, default=0) <= 1000:
            texts.append(str(array.tolist()))
        else:
            texts.append(f"{array.dtype.name}{list(array.shape)}")
    return ", ".join(texts)


def rerun(case: Case, plan: Plan, against: str) -> str:
    """The command that runs one case under one plan, and under the plan that it is compared with."""
    plans = [*filter(None, [PlanName.parse(against)]), plan.name]
    devices = dict.fromkeys(p.device for p in plans)
    options = [*(f"--device {d}" for d in devices), *(f"--mode {m}" for m in dict.fromkeys(p.mode for p in plans))]
    return f"pytest suites --case {shlex.quote(case.id)} {' '.join(options)}"
