"""Planned cells: the cases of an item with the plans that run them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Case


def planned(
    item: Item, plans: Sequence[Plan], only: Collection[str] = (), *, sweeps: bool = False
) -> list[tuple[Case, Plan]]:
    """The cells of an item: each case (or only those with the ids in `only`) under each plan that runs its spec."""
    cases = [c for c in (*item.cases, *(item.sweeps if sweeps else ())) if not only or c.id in only]
    return [(case, plan) for case in cases for plan in plans if item.spec.runs_under(plan)]
