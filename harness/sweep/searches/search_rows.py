"""Search rows: the inputs that a search found, as records and as rows of the atlas."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Trial
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.store.records.element_index import index_text, parse_index
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.sweep.searches.search import Search
from tf_opdiff.harness.sweep.searches.search_oracle import distances, patterns, promises
from tf_opdiff.harness.sweep.searches.search_results import Results, comparable


def records(search: Search, context: Context, results: Results) -> list[Record]:
    """The records of the found inputs: they are judged as those of any case, and an index is their bit patterns."""
    rows, names = [], patterns(results.inputs)
    for plan, observation in results.observations.items():
        spec = search.item.spec
        expected, _ = promises(results.case, results.inputs, spec.side(plan), bounds=True)
        upstreams = expected.upstreams or ()
        trial = Trial(search.item.suite, results.case, plan, observation, results.inputs, upstreams)
        judge = Judge(context, part=True)  # a search need not find the place of a known failure
        wants = expected.in_mode(plan.mode).wants
        wants = {q: _at_top(w) for q, w in wants.items()}
        for row in judge.against_promises(trial, wants):
            texts: dict[str, Any] = {}
            for column in ("worst_index", "example_index"):
                index = parse_index(getattr(row, column))
                texts[column] = index_text(tuple(names[index[0]].tolist())) if index else ""
            rows.append(replace(row, **texts, rerun=rerun(search, plan)))
    return rows


def _at_top(want: Want) -> Want:
    """The promise, which an infinity keeps too where the largest number is within the budget of it, or the reverse."""
    if want.value is None or want.dtype is None or not is_float(want.dtype):
        return want
    with np.errstate(all="ignore"):
        top = np.longdouble(ml_dtypes.finfo(want.dtype).max)
        near = np.abs(np.abs(want.value) - top) <= want.budget * ulp_of(np.array([float(top)]), want.dtype)
        sides = [np.where(near, np.copysign(size, want.value), want.value) for size in (np.inf, top)]
    return replace(want, alternatives=(*want.alternatives, *sides))


def faulty(search: Search, context: Context, message: str) -> list[Record]:
    """The records of a search whose reference failed: one for each plan."""
    judge = Judge(context)
    trials = [Trial(search.item.suite, search.case, plan) for plan in search.plans]
    return [replace(judge.broken(t, message), rerun=rerun(search, t.plan)) for t in trials]


def rerun(search: Search, plan: Plan) -> str:
    """The command that repeats a search under a plan."""
    item, attrs = search.item, f" --attrs {search.attrs}" if search.attrs else ""
    options = f"--device {plan.device} --mode {plan.mode} --search {search.descents}"
    return f"python -m harness sweep {item.spec.name} --dtype {item.dtype}{attrs} {options}"


def searched(search: Search, results: Results) -> Iterator[dict[str, Any]]:
    """A row of the atlas for each quantity and plan: the largest error at the found inputs, in wide numbers."""
    names = patterns(results.inputs)
    for plan, observation in results.observations.items():
        expected, _ = promises(results.case, results.inputs, search.item.spec.side(plan))
        for quantity, want in expected.wants.items():
            result = observation.quantities.get(quantity)
            if result is None or result.value is None or want.value is None or not comparable(result, want):
                continue
            ulps, wrong = distances(quantity, result.value, want)
            at = int(np.argmax(ulps))
            examples = {kind: int(np.flatnonzero(where)[0]) for kind, where in wrong.items() if where.any()}
            leads = plan in search.leading
            yield {
                "spec": search.item.spec.name,
                "dtype": search.item.dtype,
                "attrs": search.attrs,
                "device": str(plan.device),
                "mode": plan.mode,
                "quantity": quantity,
                "raw_op": observation.raw_op,
                "descents": search.descents,
                "tried": search.tried if leads else len(names),
                "guide": search.guide,
                "max_ulp": float(ulps[at]),
                "worst": list(map(hex, names[at].tolist())),
                "got": str(result.value[at]),
                "want": str(want.value[at].astype(want.dtype)),
                "wrong": {kind: list(map(hex, names[i].tolist())) for kind, i in examples.items()},
                "same": len(names),
                "checksum": zlib.crc32(np.ascontiguousarray(result.value).view(np.uint8).data),
            }
