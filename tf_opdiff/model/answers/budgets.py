"""Budgets: how far the results of ops may be apart, from the specs of the suites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.quantity import family_of

#: The package with a spec for each op.
OPS = "tf_opdiff.suites.ops"


@dataclass(frozen=True)
class OpBudget:
    """The allowed distance of two results of an op, in ULPs, and whether its spec bounds the error by the condition."""

    ulps: float
    bounded: bool


#: (op type, dtype) → its budget.
Budgets = Mapping[tuple[str, str], OpBudget]


def budgets_of(types: Iterable[str], mode: str) -> Budgets:
    """(op type, dtype) → the budget of a result in a mode against one in eager mode, where a spec has one.

    An op counts as that of a spec if the spec names no other. Of several specs, the smallest budget counts: which of
    them is about a recorded op's attributes and size is not known. Where they disagree, the condition of the recorded
    op itself may allow more, as where a spec bounds the error. A spec without budget, bound and VJP may promise an
    error, and does not count.
    """
    wanted, budgets = set(types), dict[tuple[str, str], OpBudget]()
    for spec in Catalog.load(OPS).specs.values():
        ops: Any = spec.ops_in(mode) if mode in spec.modes else ()
        if len(ops) != 1 or ops[0] not in wanted:
            continue
        allowed = spec.tolerance
        if not (allowed.ulp or allowed.bound or spec.derivatives.vjp):
            continue
        bounded = any(family_of(quantity) == "output" for quantity in allowed.bound)
        outputs = {"output", *(quantity for quantity in allowed.ulp if family_of(quantity) == "output")}
        for dtype in spec.dtypes:
            ulps = max(sum(allowed.ulps(q, dtype, m) for m in ("eager", mode)) for q in outputs)
            known = budgets.get((ops[0], dtype), OpBudget(ulps, bounded))
            disagree = known.bounded or bounded or known.ulps != ulps
            budgets[ops[0], dtype] = OpBudget(min(known.ulps, ulps), disagree)
    return budgets
