"""Op list: the page that lists the ops of a run by family, with totals by plan and severity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.reports.analysis.ops.op_totals import op_totals
from tf_opdiff.reports.analysis.ops.op_view import OpView
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.pages.menu import OPS, Menu
from tf_opdiff.reports.pages.template import compiled


def html(
    views: Sequence[OpView], ranked: Sequence[Discrepancy], extra: Sequence[tuple[str, str]], **shared: Any
) -> str:
    """The page of some views and of the discrepancies of their run.

    `extra` are the further pages in the menu, `shared` the values that the template shares with the pages of ops.
    """
    totals = op_totals(views, ranked, RawOps.load())
    every_plan = dict.fromkeys(plan for view in views for plan in view.plans if plan in totals.plans)
    plans = sorted(every_plan, key=list(totals.plans).index)
    devices: dict[str, list[str]] = {}
    for plan in plans:
        device, _, mode = plan.rpartition("/")
        devices.setdefault(device, []).append(mode)
    return compiled("op/list.html").render(
        **shared,
        menu=Menu(OPS, extra),
        count=sum(view.page.is_op for view in views),
        totals=totals,
        plans=[f"{device}/{mode}" for device, modes in devices.items() for mode in modes],
        devices=devices,
    )
